// SPDX-License-Identifier: Apache-2.0
// Blocks and segments of a snapshot.
#include <limits>

#include "base/text.h"
#include "trace/snapshot_records.h"

namespace ebb::trace {
namespace {

/// A block that does not say where it begins (PyTorch 2.0).
constexpr Address kUnplaced = std::numeric_limits<Address>::max();

const char* spelling_of(Word key) {
  return trace::spelling_of(static_cast<std::uint32_t>(key));
}

}  // namespace

Value SnapshotRecords::make_block(const Fields& fields) {
  Block block;
  block.address = kUnplaced;
  const Value& state = *fields.find(Word::state);
  const auto known =
      state.kind == ValueKind::text ? block_state_of(texts_[state.first()]) : std::nullopt;
  if (!known) {
    return broken("'state' of a block is none of active_allocated, active_pending_free, inactive");
  }
  block.state = *known;
  const Value* size = fields.find(Word::size);
  if (size == nullptr || !is_size(*size) || size->number == 0) {
    return broken("'size' of a block is not a positive number of bytes");
  }
  block.size = size->number;
  block.requested = size->number;
  if (const Value* address = fields.find(Word::address)) {
    if (address->kind != ValueKind::integer) return broken("'address' of a block is not a number");
    block.address = address->number;
  }
  if (const Value* frames = fields.find(Word::frames)) {
    if (frames->is_broken()) return *frames;
    if (!is_stack(*frames)) return broken("'frames' of a block is not a list of frames");
    block.stack = stack_of(*frames);
  } else if (const Value* history = fields.find(Word::history)) {
    if (history->is_list_of(ValueKind::past)) {
      const Past& newest = pasts_[history->first()];
      block.stack = newest.stack;
      block.requested = newest.size;
    }
  }
  if (const Value* requested = fields.find(Word::requested_size)) {
    if (!is_size(*requested)) {
      return broken("'requested_size' of a block is not a number of bytes");
    }
    block.requested = requested->number;
  }
  block_keys_.add(fields.keys);
  if (blocks_.size() >= kNone) return broken("more than 4294967295 blocks");
  blocks_.push_back(block);
  return Value::run(ValueKind::block, static_cast<Index>(blocks_.size() - 1));
}

Value SnapshotRecords::make_segment(const Fields& fields) {
  Segment segment;
  const auto expected = [&](Word key, const char* what) {
    return broken("'%s' of segment %zu is not %s", spelling_of(key), segments_.size(), what);
  };
  const Value* address = fields.find(Word::address);
  if (address == nullptr || address->kind != ValueKind::integer) {
    return expected(Word::address, "a number");
  }
  segment.address = address->number;
  const Value* total = fields.find(Word::total_size);
  if (total == nullptr || !is_size(*total)) return expected(Word::total_size, "a number of bytes");
  segment.size = total->number;
  if (const Value* device = fields.find(Word::device)) {
    if (!is_small_int(*device)) return expected(Word::device, "a number");
    segment.device = static_cast<int>(device->number);
  }
  if (const Value* stream = fields.find(Word::stream)) {
    if (stream->kind != ValueKind::integer) return expected(Word::stream, "an integer of 64 bits");
    segment.stream = stream->number;
  }
  if (const Value* pool = fields.find(Word::segment_pool_id)) {
    if (pool->kind != ValueKind::pair) return expected(Word::segment_pool_id, "a pair of integers");
    segment.pool = pairs_[pool->first()];
  }
  if (const Value* type = fields.find(Word::segment_type)) {
    const auto word = static_cast<Word>(type->kind == ValueKind::text ? type->number : kWords);
    if (word != Word::small && word != Word::large) {
      return expected(Word::segment_type, "'small' or 'large'");
    }
    segment.small = word == Word::small;
  }
  if (const Value* expandable = fields.find(Word::is_expandable)) {
    if (expandable->kind != ValueKind::boolean) {
      return expected(Word::is_expandable, "True or False");
    }
    segment.expandable = expandable->number != 0;
  }
  if (const Value* frames = fields.find(Word::frames)) {
    if (frames->is_broken()) return *frames;
    if (!is_stack(*frames)) return expected(Word::frames, "a list of frames");
    segment.stack = stack_of(*frames);
  }
  const Value* blocks = fields.find(Word::blocks);
  if (blocks == nullptr) return expected(Word::blocks, "there");
  if (blocks->is_broken()) return *blocks;
  if (!blocks->is_list_of(ValueKind::block)) return expected(Word::blocks, "a list of blocks");
  // They were made last; what is copied here is not needed there.
  const bool last = blocks->first() + std::size_t{blocks->count()} == blocks_.size();
  budget_.charge(blocks->count() * sizeof(Block));
  segment.blocks.reserve(blocks->count());
  for (Index i = 0; i < blocks->count(); ++i) {
    segment.blocks.push_back(blocks_[blocks->first() + i]);
  }
  if (last) blocks_.truncate(blocks->first());
  const std::string fault = place_blocks(segment);
  if (!fault.empty()) return broken("segment %zu: %s", segments_.size(), fault.c_str());
  segment_keys_.add(fields.keys);
  budget_.make_room(segments_);
  segments_.push_back(std::move(segment));
  return Value::run(ValueKind::segment, static_cast<Index>(segments_.size() - 1));
}

/// Empty where the blocks fill the segment without gaps; otherwise what is wrong.
std::string SnapshotRecords::place_blocks(Segment& segment) {
  if (segment.address > std::numeric_limits<Address>::max() - segment.size) {
    return "address and size go beyond 64 bits";
  }
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    Block& block = segment.blocks[i];
    const Address here = segment.address + covered;
    if (block.address == kUnplaced) block.address = here;
    if (block.address != here) {
      return base::format_text("block %zu begins at %llu, expected %llu, where the one before ends",
                               i, static_cast<unsigned long long>(block.address),
                               static_cast<unsigned long long>(here));
    }
    if (block.size > segment.size - covered) {
      return base::format_text("block %zu goes beyond the segment's %llu bytes", i,
                               static_cast<unsigned long long>(segment.size));
    }
    covered += block.size;
  }
  if (covered == segment.size) return {};
  return base::format_text("its blocks have %llu bytes, expected its total_size, %llu",
                           static_cast<unsigned long long>(covered),
                           static_cast<unsigned long long>(segment.size));
}

}  // namespace ebb::trace
