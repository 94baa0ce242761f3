// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/snapshot.h"

namespace ebb::trace {

/// What one device's allocator held before the first event of its trace: a ring buffer forgets the
/// oldest events, and recording may have begun late.
struct InitialState {
  /// By address. The blocks fill each segment; those in use have their requested size, and a stack
  /// where the block is still there at the end of the trace. The size of a block that the trace
  /// frees is not recorded: it is the least possible, the requested size rounded up to 512.
  std::vector<Segment> segments;

  std::size_t allocated_blocks = 0;
  std::size_t pending_blocks = 0;     ///< freed before, still in use by other streams
  std::uint64_t requested_bytes = 0;  ///< of both
  std::size_t guessed_sizes = 0;      ///< blocks whose size is only the least possible

  /// What could not be known or does not fit together and was left out, one line each.
  std::vector<std::string> notes;

  /// Nothing was there: the trace tells the whole story.
  bool empty() const { return segments.empty(); }
};

/// Walks the trace of `device` backwards from the segments at its end. Never fails: whatever does
/// not fit together is left out and noted. A device without a trace gives its final segments.
InitialState initial_state(const Snapshot& snapshot, std::size_t device);

}  // namespace ebb::trace
