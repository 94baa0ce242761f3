// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/lifetimes.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Memory that one place in the program allocated.
struct Origin {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  /// The stack, innermost first, without the frames of PyTorch's own machinery; where no stack was
  /// recorded, the size of the request.
  std::vector<std::string> frames;
};

/// "file.py:12 function" lines of a stack, innermost first: those of the program's own Python where
/// there are any, at most `most`.
std::vector<std::string> frame_lines(const trace::Snapshot& snapshot, trace::Index stack,
                                     std::size_t most = 8);

/// The stack that a block was allocated with; kNone where none was recorded.
trace::Index stack_of(const trace::Snapshot& snapshot, int device, const Workload& workload,
                      const Lifetime& life);

/// Blocks grouped by where they were allocated, most bytes first.
std::vector<Origin> origins_of(const trace::Snapshot& snapshot, int device,
                               const Workload& workload, const std::vector<Lifetime>& blocks,
                               std::size_t most = 10);

base::Json to_json(const std::vector<Origin>& origins);

}  // namespace ebb::replay
