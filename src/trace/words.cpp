// SPDX-License-Identifier: Apache-2.0
#include "trace/words.h"

#include "trace/snapshot.h"

namespace ebb::trace {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Word::first_state)> kSpellings = {
    "action",
    "addr",
    "address",
    "active_size",
    "allocated_size",
    "allocator_settings",
    "blocks",
    "compile_context",
    "PYTORCH_CUDA_ALLOC_CONF",
    "device",
    "device_free",
    "device_traces",
    "expandable_segments",
    "external_annotations",
    "filename",
    "forward_frames",
    "frames",
    "fx_node_info",
    "fx_node_name",
    "fx_node_op",
    "fx_original_trace",
    "garbage_collection_threshold",
    "graph_capture_record_stream_reuse",
    "history",
    "host_segments",
    "host_traces",
    "is_expandable",
    "line",
    "max_cached_size",
    "max_split_size",
    "name",
    "pool_id",
    "real_size",
    "requested_size",
    "segment_pool_id",
    "segment_type",
    "segments",
    "size",
    "stage",
    "state",
    "stream",
    "time_us",
    "total_size",
    "user_metadata",
    "END",
    "large",
    "small",
    "START",
};

}  // namespace

const char* spelling_of(std::uint32_t word) {
  constexpr auto kState = static_cast<std::uint32_t>(Word::first_state);
  constexpr auto kAction = static_cast<std::uint32_t>(Word::first_action);
  if (word < kState) return kSpellings[word];
  if (word < kAction) return name_of(static_cast<BlockState>(word - kState));
  return name_of(static_cast<Action>(word - kAction));
}

}  // namespace ebb::trace
