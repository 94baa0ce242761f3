// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "cache/failure.h"

namespace ebb::capi {

/// Keeps why a request got no memory, for ebb_torch_oom_diagnostic: the last one of each device.
void remember(const cache::Failure& failure);

/// ebb_call("shortage"): the diagnosis of the numbers that `arguments` has, e.g. those of PyTorch's
/// own allocator. Code::bad_input names the one that is missing or no number.
base::Result<base::Json> call_shortage(const base::Json& arguments);

}  // namespace ebb::capi
