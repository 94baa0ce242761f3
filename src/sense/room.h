// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"

namespace ebb::sense {

/// Memory that is free now.
struct Room {
  const char* where = "";  ///< "host" or "gpu"
  std::uint64_t bytes = 0;
};

/// What this process may still take: the rest of its limit, and no more than the machine has.
base::Result<Room> room_on_host();

/// The most that any one GPU has left. Code::unavailable where there is none that tells.
base::Result<Room> room_on_gpu();

}  // namespace ebb::sense
