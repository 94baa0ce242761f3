// SPDX-License-Identifier: Apache-2.0
#include "replay/generator/tape.h"

#include "base/check.h"
#include "replay/replayer.h"

namespace ebb::replay::generator {

using Kind = Operation::Kind;

Tape::Block Tape::take(std::uint64_t bytes, std::uint16_t stream) {
  EBB_CHECK(bytes > 0);
  const auto block = static_cast<Block>(stream_of_.size());
  stream_of_.push_back(stream);
  add(Kind::allocate, block);
  operations_.back().bytes = bytes;
  ++requests_;
  return block;
}

void Tape::give(Block block) {
  add(Kind::free, block);
  ++requests_;
}

void Tape::give(std::vector<Block>& blocks) {
  for (const Block block : blocks) {
    give(block);
  }
  blocks.clear();
}

void Tape::give_later(Block block) {
  add(Kind::free_later, block);
  ++requests_;
}

void Tape::complete(Block block) {
  add(Kind::complete, block);
}

void Tape::empty_cache() {
  add(Kind::empty_cache, 0);
  operations_.back().stream = 0;
  operations_.back().waited = true;
}

void Tape::add(Kind kind, Block block) {
  Operation op;
  op.kind = kind;
  op.block = block;
  op.event = static_cast<std::uint32_t>(operations_.size());
  op.stream = stream_of_.empty() ? std::uint16_t{0} : stream_of_[block];
  operations_.push_back(op);
}

Workload Tape::first(std::size_t operations) const {
  Workload work;
  work.operations.assign(operations_.begin(),
                         operations_.begin() + static_cast<std::ptrdiff_t>(operations));
  work.streams = {0, 0x5000};
  work.pools = {trace::PoolId{}};
  for (const Operation& op : work.operations) {
    if (op.kind == Kind::allocate) ++work.blocks;
    if (op.kind != Kind::complete && op.kind != Kind::empty_cache) ++work.requests;
  }
  Setup setup;
  setup.profile = *cache::profile_of(work.recording.newest_minor);
  setup.keep_events = true;
  const Outcome outcome = replay::replay(work, setup);
  Recording& recording = work.recording;
  recording.conf_known = true;
  recording.events = outcome.events;
  recording.peak_reserved = recording.limit_low = outcome.peak_reserved;
  recording.final_reserved = outcome.final_reserved;
  recording.seconds = static_cast<double>(work.requests) * 1e-4;
  return work;
}

}  // namespace ebb::replay::generator
