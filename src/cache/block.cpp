// SPDX-License-Identifier: Apache-2.0
#include "cache/block.h"

namespace ebb::cache {

BlockSlab::~BlockSlab() {
  for (Chunk* chunk : chunks_) {
    delete chunk;
  }
}

void BlockSlab::grow() {
  chunks_.reserve(chunks_.size() + 1);
  auto* chunk = new Chunk;
  chunks_.push_back(chunk);
  for (std::size_t i = kPerChunk; i-- > 0;) {
    chunk->blocks[i].next = unused_;
    unused_ = &chunk->blocks[i];
  }
}

}  // namespace ebb::cache
