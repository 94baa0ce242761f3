// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

/// What computes: libtorch's own kernels or oneDNN's on the host, or a card.
enum class Backend : std::uint8_t { native, onednn, cuda };
const char* name_of(Backend backend);
/// Code::bad_input for an unknown name.
base::Result<Backend> backend_from(std::string_view name);

/// Those of the host, and `cuda` where this libtorch has it and there is a card.
std::vector<Backend> backends_here();

/// Makes libtorch use it and one thread per operation, for the whole process, and says on which
/// device. Code::unavailable for one that is not here.
base::Result<at::Device> use_backend(Backend backend);

/// Gives what libtorch keeps of a card's memory, unused, back to it. PyTorch 2.10 and later.
void empty_device_cache();

}  // namespace ebb::fl
