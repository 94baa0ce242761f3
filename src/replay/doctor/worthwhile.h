// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace ebb::replay {

/// Whether so many of these reserved bytes are something to act on: a tenth of them, and 2 MiB.
inline bool is_worthwhile(std::uint64_t bytes, std::uint64_t reserved) {
  constexpr double kShare = 0.10;
  return bytes >= 2 * base::kMiB &&
         static_cast<double>(bytes) >= kShare * static_cast<double>(reserved);
}

}  // namespace ebb::replay
