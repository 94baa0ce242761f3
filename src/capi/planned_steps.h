// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace ebb::capi {

/// The verb `plan` of ebb_call. Arguments: either `transformer` or `model`, an object whose members
/// are the options of `ebb plan transformer` or `ebb plan model`, with underscores; of a model its
/// `name`. Answers: what the program prints with --json.
base::Result<base::Json> call_plan(const base::Json& arguments);

}  // namespace ebb::capi
