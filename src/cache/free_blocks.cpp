// SPDX-License-Identifier: Apache-2.0
#include "cache/free_blocks.h"

#include "base/check.h"

namespace ebb::cache {

bool FreeBlocks::ordered_by_age(const Block* a, const Block* b) const {
  if (tie_break_ == TieBreak::creation) {
    return BlockSlab::extra(const_cast<Block*>(a)).ordinal <
           BlockSlab::extra(const_cast<Block*>(b)).ordinal;
  }
  const std::uint64_t first = segments_[a->segment].counter;
  const std::uint64_t second = segments_[b->segment].counter;
  return first != second ? first < second : a->address < b->address;
}

Block* FreeBlocks::join_both(Block* low, Block* high) {
  Block* root = nullptr;
  Block** link = &root;
  while (low != nullptr && high != nullptr) {
    if (priority(low) > priority(high)) {
      *link = low;
      link = &low->right;
      low = low->right;
    } else {
      *link = high;
      link = &high->left;
      high = high->left;
    }
  }
  *link = low != nullptr ? low : high;
  return root;
}

void FreeBlocks::insert_below(Block*& root, Block* block) {
  Block** link = &root;
  const std::uint64_t rank = priority(block);
  while (*link != nullptr && priority(*link) > rank) {
    link = ordered(block, *link) ? &(*link)->left : &(*link)->right;
  }
  Block* rest = *link;
  *link = block;
  Block** low = &block->left;
  Block** high = &block->right;
  while (rest != nullptr) {
    if (ordered(rest, block)) {
      *low = rest;
      low = &rest->right;
      rest = rest->right;
    } else {
      *high = rest;
      high = &rest->left;
      rest = rest->left;
    }
  }
  *low = nullptr;
  *high = nullptr;
}

void FreeBlocks::erase_below(Block*& root, Block* block) {
  Block** link = &root;
  while (*link != block) {
    EBB_CHECK(*link != nullptr);
    link = ordered(block, *link) ? &(*link)->left : &(*link)->right;
  }
  *link = join(block->left, block->right);
}

std::size_t FreeBlocks::previous_bin(std::size_t bin) const {
  while (bin-- > 0) {
    const std::uint64_t here = bins_.words[bin / 64] << (63 - bin % 64);
    if (here != 0) return bin - static_cast<std::size_t>(std::countl_zero(here));
    bin = bin / 64 * 64;
  }
  return kNoBin;
}

Block* FreeBlocks::after(const Block* block) const {
  const std::size_t bin = bin_of(block->size);
  Block* found = nullptr;
  for (Block* node = bins_.roots[bin]; node != nullptr;) {
    if (ordered(block, node)) {
      found = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  return found != nullptr ? found : leftmost(next_bin(bin + 1));
}

namespace {

Block* rightmost(Block* block) {
  while (block->right != nullptr) {
    block = block->right;
  }
  return block;
}

}  // namespace

Block* FreeBlocks::before(const Block* block) const {
  const std::size_t bin = bin_of(block->size);
  Block* found = nullptr;
  for (Block* node = bins_.roots[bin]; node != nullptr;) {
    if (ordered(node, block)) {
      found = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  if (found != nullptr) return found;
  const std::size_t lower = previous_bin(bin);
  return lower == kNoBin ? nullptr : rightmost(bins_.roots[lower]);
}

Block* FreeBlocks::last_below(std::uint64_t size) const {
  const std::size_t bin = bin_of(size);
  Block* found = nullptr;
  for (Block* node = bins_.roots[bin]; node != nullptr;) {
    if (node->size < size) {
      found = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  if (found != nullptr) return found;
  const std::size_t lower = previous_bin(bin);
  return lower == kNoBin ? nullptr : rightmost(bins_.roots[lower]);
}

}  // namespace ebb::cache
