// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "plan/presets.h"

/// Any text is a model that can be counted or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = ebb::plan::model_from_config(text, "config.json");
  if (!model) {
    EBB_CHECK(model.error().code == ebb::base::Code::bad_input);
    EBB_CHECK(model.error().message.starts_with("config.json: "));
    EBB_CHECK(model.error().message.find('\n') == std::string::npos);
    return 0;
  }
  EBB_CHECK(model->heads % model->kv_heads == 0);
  EBB_CHECK(model->parameters() > 0);
  return 0;
}
