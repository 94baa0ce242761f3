// SPDX-License-Identifier: Apache-2.0
#include "cache/block.h"

#include <new>

#include "base/check.h"
#include "cache/pages.h"

namespace ebb::cache {

BlockSlab::~BlockSlab() {
  for (Chunk* chunk : chunks_) {
    chunk->~Chunk();
  }
  for (const Arena& arena : arenas_) {
    unmap_pages(arena.memory, arena.bytes);
  }
}

void BlockSlab::grow() {
  // Small at first; once there are thousands of blocks, huge pages pay.
  const bool huge = chunks_.size() * kChunk >= kHugePage / 2;
  const Arena arena{map_pages(huge ? kHugePage : kChunk, huge ? kHugePage : kChunk),
                    huge ? kHugePage : kChunk};
  // AddressMap has 48 bits for a pointer: all that user space has, unless asked for more.
  EBB_CHECK(reinterpret_cast<std::uintptr_t>(arena.memory) >> 48 == 0);
  arenas_.push_back(arena);
  const std::size_t first = chunks_.size();
  for (std::size_t offset = 0; offset < arena.bytes; offset += kChunk) {
    chunks_.push_back(new (static_cast<char*>(arena.memory) + offset) Chunk);
  }
  for (std::size_t i = chunks_.size(); i-- > first;) {
    for (std::size_t j = kPerChunk; j-- > 0;) {
      chunks_[i]->blocks[j].next = unused_;
      unused_ = &chunks_[i]->blocks[j];
    }
  }
}

}  // namespace ebb::cache
