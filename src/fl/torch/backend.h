// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// "native" and "onednn" on the host, "cuda" where this libtorch has it and there is a card.
std::vector<std::string> backends_here();

/// Makes libtorch use `name` ("native", "onednn" or "cuda") and one thread per operation, for the
/// whole process, and says on which device. Code::bad_input for an unknown name,
/// Code::unavailable for one that is not here.
base::Result<at::Device> use_backend(const std::string& name);

/// Gives what libtorch keeps of a card's memory, unused, back to it. PyTorch 2.10 and later.
void empty_device_cache();

}  // namespace ebb::fl
