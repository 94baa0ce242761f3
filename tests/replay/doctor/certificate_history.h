// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "trace/snapshot.h"

namespace ebb::replay {

/// A block of a recording, or a request that failed. Moments are indices of events.
struct KnownBlock {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::uint64_t bytes = 0;      ///< as recorded
  std::int64_t begin = -1;      ///< its event; -1 for a block from before the recording
  std::int64_t freed = kNever;  ///< when the job gave it back
  std::int64_t ended = kNever;  ///< when its memory could be used again
  bool is_request = false;      ///< it found no memory

  std::uint64_t needed() const { return (std::max<std::uint64_t>(bytes, 1) + 511) / 512 * 512; }
};

/// What certificates name: blocks by the index of their event, those from before the recording by
/// -1, -2, … in order of address.
using KnownBlocks = std::map<std::int64_t, KnownBlock>;
KnownBlocks blocks_in(const trace::Snapshot& snapshot, int device);

/// Bytes held from the device just after an event.
std::uint64_t reserved_after(const trace::Snapshot& snapshot, int device, std::int64_t event);

}  // namespace ebb::replay
