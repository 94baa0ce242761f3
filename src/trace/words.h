// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "trace/action.h"

namespace ebb::trace {

/// The keys and values of snapshots that have a meaning here.
enum class Word : std::uint32_t {
  action,
  addr,
  address,
  active_size,
  allocated_size,
  allocator_settings,
  blocks,
  compile_context,
  conf,
  device,
  device_free,
  device_traces,
  expandable_segments,
  external_annotations,
  filename,
  forward_frames,
  frames,
  fx_node_info,
  fx_node_name,
  fx_node_op,
  fx_original_trace,
  garbage_collection_threshold,
  graph_reuse,
  history,
  host_segments,
  host_traces,
  is_expandable,
  line,
  max_cached_size,
  max_split_size,
  name,
  pool_id,
  real_size,
  requested_size,
  segment_pool_id,
  segment_type,
  segments,
  size,
  stage,
  state,
  stream,
  time_us,
  total_size,
  user_metadata,
  end,
  large,
  small,
  start,
  first_state,
  first_action = first_state + 3,
};
inline constexpr std::uint32_t kKeys = static_cast<std::uint32_t>(Word::end);
inline constexpr std::uint32_t kWords = static_cast<std::uint32_t>(Word::first_action) + kActions;
static_assert(kKeys <= 64, "seen keys are kept in a word of 64 bits");

/// How a word is written, by its number.
const char* spelling_of(std::uint32_t word);

}  // namespace ebb::trace
