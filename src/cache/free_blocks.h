// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "cache/block.h"
#include "cache/segment.h"
#include "cache/version.h"

namespace ebb::cache {

/// The free blocks of one stream in one pool, in PyTorch's order: by size, then by the version's
/// tie rule.
///
/// Sizes fall into bins, 64 to an octave, found through a two-level bitmap; the few blocks of a bin
/// form a treap through Block::left and Block::right, so that no operation takes memory and even a
/// bin with very many blocks stays logarithmic. Blocks must not change size, address or segment
/// while they are in here. Not thread-safe.
class FreeBlocks {
 public:
  FreeBlocks(TieBreak tie_break, const SegmentTable& segments)
      : tie_break_(tie_break), segments_(segments), bins_(std::make_unique<Bins>()) {}

  bool empty() const { return bins_->summary == 0; }

  /// The first block in order whose size is at least `size`; null when there is none.
  Block* first_at_least(std::uint64_t size) const {
    const std::size_t bin = bin_of(size);
    if (Block* found = lower_bound(bins_->roots[bin], size)) return found;
    return leftmost(next_bin(bin + 1));
  }

  void insert(Block* block) {
    const std::size_t bin = bin_of(block->size);
    Block*& root = bins_->roots[bin];
    if (root == nullptr) [[likely]] {
      block->left = block->right = nullptr;
      root = block;
      mark(bin);
      return;
    }
    insert_below(root, block);
  }

  /// Requires: the block is in here.
  void erase(Block* block) {
    const std::size_t bin = bin_of(block->size);
    Block*& root = bins_->roots[bin];
    if (root == block) [[likely]] {
      root = join(block->left, block->right);
      if (root == nullptr) unmark(bin);
      return;
    }
    erase_below(root, block);
  }

  /// First in order, and the neighbours of a block that is in here; null past either end.
  Block* first() const { return leftmost(next_bin(0)); }
  Block* after(const Block* block) const;
  Block* before(const Block* block) const;
  /// The last block in order whose size is below `size`.
  Block* last_below(std::uint64_t size) const;

 private:
  static constexpr int kSubBits = 6;
  static constexpr std::size_t kSubBins = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBins = 64 * 46;  // up to 2^60 bytes
  static constexpr std::size_t kNoBin = kBins;

  struct Bins {
    std::uint64_t summary = 0;
    std::array<std::uint64_t, kBins / 64> words{};
    std::array<Block*, kBins> roots{};
  };

  /// Exact up to 64 KiB, then 64 bins to an octave.
  static std::size_t bin_of(std::uint64_t size) {
    const std::uint64_t unit = size / 512;
    if (unit < kSubBins) return static_cast<std::size_t>(unit);
    const int shift = 63 - std::countl_zero(unit) - kSubBits;
    return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kSubBins + (unit >> shift));
  }

  void mark(std::size_t bin) {
    bins_->words[bin / 64] |= std::uint64_t{1} << (bin % 64);
    bins_->summary |= std::uint64_t{1} << (bin / 64);
  }
  void unmark(std::size_t bin) {
    std::uint64_t& word = bins_->words[bin / 64];
    word &= ~(std::uint64_t{1} << (bin % 64));
    if (word == 0) bins_->summary &= ~(std::uint64_t{1} << (bin / 64));
  }

  /// The first bin from `bin` on that holds a block, or kNoBin.
  std::size_t next_bin(std::size_t bin) const {
    if (bin >= kBins) return kNoBin;
    const std::uint64_t here = bins_->words[bin / 64] >> (bin % 64);
    if (here != 0) return bin + static_cast<std::size_t>(std::countr_zero(here));
    const std::size_t word = bin / 64 + 1;
    const std::uint64_t later = word < 64 ? bins_->summary >> word : 0;
    if (later == 0) return kNoBin;
    const std::size_t found = word + static_cast<std::size_t>(std::countr_zero(later));
    return found * 64 + static_cast<std::size_t>(std::countr_zero(bins_->words[found]));
  }
  /// The last bin before `bin` that holds a block, or kNoBin.
  std::size_t previous_bin(std::size_t bin) const;

  Block* leftmost(std::size_t bin) const {
    if (bin == kNoBin) return nullptr;
    Block* block = bins_->roots[bin];
    while (block->left != nullptr) {
      block = block->left;
    }
    return block;
  }

  static Block* lower_bound(Block* node, std::uint64_t size) {
    Block* found = nullptr;
    while (node != nullptr) {
      if (node->size >= size) {
        found = node;
        node = node->left;
      } else {
        node = node->right;
      }
    }
    return found;
  }

  /// Whether `a` comes before `b`.
  bool ordered(const Block* a, const Block* b) const {
    if (a->size != b->size) return a->size < b->size;
    if (tie_break_ != TieBreak::address) [[unlikely]]
      return ordered_by_age(a, b);
    return a->address < b->address;
  }
  bool ordered_by_age(const Block* a, const Block* b) const;

  /// Heap order of the treap: a mix of the address, distinct for distinct blocks.
  static std::uint64_t priority(const Block* block) {
    return block->address * 0x9E3779B97F4A7C15ULL;
  }
  static Block* join(Block* low, Block* high) {
    if (low == nullptr) return high;
    if (high == nullptr) return low;
    return join_both(low, high);
  }
  static Block* join_both(Block* low, Block* high);
  void insert_below(Block*& root, Block* block);
  void erase_below(Block*& root, Block* block);

  TieBreak tie_break_;
  const SegmentTable& segments_;
  std::unique_ptr<Bins> bins_;
};

}  // namespace ebb::cache
