// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/transformer.h"

namespace ebb::plan {

std::vector<std::string_view> preset_names();

/// A published model by its name, completed. Code::bad_input for an unknown name.
base::Result<TransformerModel> preset(std::string_view name);

/// The model that a Hugging Face config.json describes, completed. Knows gpt2, llama, mistral and
/// qwen2; `where` names the text in messages. Code::bad_input for anything else.
base::Result<TransformerModel> model_from_config(std::string_view json, std::string_view where);

}  // namespace ebb::plan
