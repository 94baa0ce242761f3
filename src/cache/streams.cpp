// SPDX-License-Identifier: Apache-2.0
// Blocks that more than one stream uses, and captures.
#include "cache/core.h"

namespace ebb::cache {

bool Core::record_stream(Address address, StreamId stream) {
  Block* block = handed_out_.find(address);
  if (block == nullptr) return false;
  if (lane_of(block).stream == stream) return true;
  StreamWaits::add_use(block, stream, in_capture(stream));
  return true;
}

bool Core::in_capture(StreamId stream) {
  if (!profile_.asks_stream_for_capture()) return private_pools_.has_scopes();
  const auto capturing = driver_.is_capturing(device_, stream);
  return capturing && *capturing;
}

void Core::on_wait_possible(StreamId stream) {
  if (!in_capture(stream)) {
    waits_.poll();
  } else if (settings_.graph_capture_record_stream_reuse) {
    waits_.complete_reusable(stream);
  }
}

void Core::release_shared(Block* block) {
  const Lane& lane = lane_of(block);
  stats_.on_wait(lane.pool->small, static_cast<std::int64_t>(block->size), 1);
  if (in_capture(lane.stream)) {
    waits_.add_in_capture(block, lane, settings_.graph_capture_record_stream_reuse);
  } else {
    waits_.add(block, lane);
  }
}

void Core::end_wait(Block* block) {
  stats_.on_wait(lane_of(block).pool->small, static_cast<std::int64_t>(block->size), -1);
  complete_free(block);
}

base::Status Core::end_scope(PoolId id) {
  if (auto ended = private_pools_.end_scope(id); !ended) return ended;
  if (settings_.graph_capture_record_stream_reuse && profile_.completes_deferred_at_scope_end()) {
    waits_.complete_deferred_of(private_pools_.find(id));
  }
  return {};
}

}  // namespace ebb::cache
