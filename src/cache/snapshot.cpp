// SPDX-License-Identifier: Apache-2.0
#include "cache/snapshot.h"

#include <algorithm>
#include <iterator>

namespace ebb::cache {

namespace {

void add_block(SnapshotSegment& segment, const Block& block) {
  SnapshotBlock out;
  out.address = block.address;
  out.size = block.size;
  out.requested_size = block.requested;
  out.state = block.allocated ? BlockState::active_allocated
              : block.shared  ? BlockState::active_pending_free
                              : BlockState::inactive;
  segment.total_size += block.size;
  if (out.state != BlockState::inactive) {
    segment.active_size += block.size;
    segment.requested_size += block.requested;
  }
  if (out.state == BlockState::active_allocated) segment.allocated_size += block.size;
  segment.blocks.push_back(out);
}

}  // namespace

SnapshotSegment segment_from(const trace::Segment& recorded) {
  SnapshotSegment segment;
  segment.address = recorded.address;
  segment.total_size = recorded.size;
  segment.stream = recorded.stream;
  segment.small = recorded.small;
  segment.pool = recorded.pool;
  segment.expandable = recorded.expandable;
  for (const trace::Block& block : recorded.blocks) {
    segment.blocks.push_back({block.address, block.size, block.requested, block.state});
  }
  return segment;
}

std::vector<SnapshotSegment> segments_of(const Core& core) {
  std::vector<SnapshotSegment> segments;
  core.for_each_segment([&](const Block* first, const Segment& source) {
    bool in_run = false;
    for (const Block* block = first; block != nullptr; block = block->next) {
      if (!block->mapped) {
        in_run = false;
        continue;
      }
      if (!in_run) {
        SnapshotSegment segment;
        segment.device = core.device();
        segment.address = block->address;
        segment.stream = source.lane->stream;
        segment.small = source.lane->pool->small;
        if (const PrivatePool* owner = source.lane->pool->owner) segment.pool = owner->id;
        segment.expandable = source.expandable();
        segments.push_back(std::move(segment));
        in_run = true;
      }
      add_block(segments.back(), *block);
    }
  });
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return segments;
}

void add_device(Snapshot& snapshot, Core& core) {
  snapshot.profile = core.profile();
  snapshot.settings = core.settings();
  auto segments = segments_of(core);
  std::move(segments.begin(), segments.end(), std::back_inserter(snapshot.segments));
  snapshot.device_traces.push_back(core.history());
  core.note_snapshot();
}

}  // namespace ebb::cache
