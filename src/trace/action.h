// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::trace {

/// What happened in a caching allocator, in PyTorch's words.
enum class Action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
  annotate,
};
inline constexpr std::size_t kActions = 10;

/// PyTorch's name, e.g. "free_requested".
const char* name_of(Action action);

/// Whether memory is taken from the device or given back to it.
inline bool is_segment_action(Action action) {
  return action >= Action::segment_alloc && action <= Action::segment_unmap;
}

}  // namespace ebb::trace
