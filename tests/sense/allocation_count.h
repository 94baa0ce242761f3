// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::sense {

/// How often this program called operator new so far.
std::uint64_t allocation_count();

}  // namespace ebb::sense
