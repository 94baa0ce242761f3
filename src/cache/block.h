// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/driver.h"

namespace ebb::cache {

using device::Address;
using device::StreamId;

/// A piece of a segment: in use, waiting for other streams, free, or (expandable segments) address
/// space without memory. Exactly one cache line, because a hit costs what the lines it touches
/// cost; what is rarely needed lies in BlockExtra.
struct alignas(64) Block {
  Address address = 0;
  std::uint64_t size = 0;       ///< 0 only while unused, in the slab
  std::uint64_t requested = 0;  ///< of a free block: what its last use left there
  Block* prev = nullptr;        ///< neighbours in the same segment
  Block* next = nullptr;
  Block* left = nullptr;  ///< children among the free blocks
  Block* right = nullptr;
  std::uint32_t segment = 0;  ///< index of the Segment
  std::uint32_t lane : 24;    ///< index of the Lane: which pool, which stream
  bool allocated : 1;         ///< handed out and not yet given back
  bool mapped : 1;
  bool expandable : 1;
  bool shared : 1;  ///< other streams used it, or events of theirs are outstanding
  /// Whether the neighbour is_free(), known without touching its cache line.
  bool prev_free : 1;
  bool next_free : 1;

  Block()
      : lane(0),
        allocated(false),
        mapped(true),
        expandable(false),
        shared(false),
        prev_free(false),
        next_free(false) {}

  bool is_split() const { return prev != nullptr || next != nullptr; }
  /// Neither in use nor waiting: memory or address space that may be merged and handed out.
  bool is_available() const { return !allocated && !shared; }
  bool is_free() const { return is_available() && mapped; }

  /// Tells the neighbours that this block became free or stopped being it.
  void tell_neighbours(bool is_free_now) {
    if (prev != nullptr) prev->next_free = is_free_now;
    if (next != nullptr) next->prev_free = is_free_now;
  }
};
static_assert(sizeof(Block) == 64);

/// Other streams that a block was used on, and how many of their events are outstanding.
struct StreamUses {
  std::vector<StreamId> streams;
  std::vector<StreamId> during_capture;
  std::uint32_t events = 0;
};

/// The part of a block that the hit path does not touch.
struct BlockExtra {
  std::uint64_t ordinal = 0;  ///< when the object was created; orders ties in 2.12
  std::unique_ptr<StreamUses> uses;
};

/// Where blocks live. Pointers stay valid until the slab dies; released blocks are reused last in,
/// first out. Not thread-safe.
class BlockSlab {
 public:
  BlockSlab() = default;
  BlockSlab(const BlockSlab&) = delete;
  BlockSlab& operator=(const BlockSlab&) = delete;
  ~BlockSlab();

  /// A block with default values. Takes memory from the kernel only when all blocks are in use.
  Block* create() {
    Block* block = take();
    *block = Block();
    return block;
  }
  /// A copy of another one.
  Block* create_like(const Block& other) {
    Block* block = take();
    *block = other;
    return block;
  }

  void release(Block* block) {
    block->size = 0;
    block->next = unused_;
    unused_ = block;
  }

  static BlockExtra& extra(Block* block) {
    auto* chunk = reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(block) & ~(kChunk - 1));
    return chunk->extras[static_cast<std::size_t>(block - chunk->blocks)];
  }

  /// Number new blocks in order of their creation.
  void number_blocks() { numbered_ = true; }

  /// Calls `visit(block)` for every block in use.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (Chunk* chunk : chunks_) {
      for (Block& block : chunk->blocks) {
        if (block.size != 0) visit(&block);
      }
    }
  }

 private:
  static constexpr std::uintptr_t kChunk = 64 * 1024;
  static constexpr std::size_t kPerChunk = (kChunk - 64) / (sizeof(Block) + sizeof(BlockExtra));

  /// Aligned to its size, so that a block's address leads to its extra.
  struct alignas(kChunk) Chunk {
    Block blocks[kPerChunk];
    BlockExtra extras[kPerChunk];
  };
  static_assert(sizeof(Chunk) == kChunk);

  Block* take() {
    if (unused_ == nullptr) [[unlikely]]
      grow();
    Block* block = unused_;
    unused_ = block->next;
    if (numbered_) [[unlikely]]
      extra(block).ordinal = next_ordinal_++;
    return block;
  }
  void grow();

  struct Arena {
    void* memory;
    std::size_t bytes;
  };

  std::vector<Chunk*> chunks_;
  std::vector<Arena> arenas_;
  Block* unused_ = nullptr;
  std::uint64_t next_ordinal_ = 0;
  bool numbered_ = false;
};

}  // namespace ebb::cache
