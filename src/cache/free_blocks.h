// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

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
      : tie_break_(tie_break), segments_(segments) {}

  /// Where a block hangs, so that it can be taken without looking for it again. Stale after any
  /// change.
  struct Place {
    Block** link = nullptr;
    std::size_t bin = 0;

    Block* block() const { return link == nullptr ? nullptr : *link; }
  };

  /// The first block in order whose size is at least `size`; no block when there is none.
  Place find_at_least(std::uint64_t size) {
    const std::size_t bin = bin_of(size);
    Block** found = nullptr;
    for (Block** link = &bins_.roots[bin]; *link != nullptr;) {
      const bool fits = (*link)->size >= size;
      found = fits ? link : found;
      link = fits ? &(*link)->left : &(*link)->right;
    }
    if (found != nullptr) return {found, bin};
    const std::size_t next = next_bin(bin + 1);
    return next == kNoBin ? Place{} : Place{leftmost_link(next), next};
  }
  Block* first_at_least(std::uint64_t size) { return find_at_least(size).block(); }

  void take(const Place& place) {
    const Block* block = *place.link;
    *place.link = join(block->left, block->right);
    if (bins_.roots[place.bin] == nullptr) unmark(place.bin);
  }

  void insert(Block* block) {
    const std::size_t bin = bin_of(block->size);
    Block*& root = bins_.roots[bin];
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
    Block*& root = bins_.roots[bin];
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
  static constexpr std::size_t kBins =
      kSubBins * (53 - kSubBits);  // up to and including 2^60 bytes
  static constexpr std::size_t kWords = kBins / 64;
  static constexpr std::size_t kNoBin = kBins;

  struct Bins {
    std::array<std::uint64_t, (kWords + 63) / 64> summary{};  ///< words that are not 0
    std::array<std::uint64_t, kWords> words{};                ///< bins that are not empty
    std::array<Block*, kBins> roots{};
  };

  /// Exact for small sizes, then kSubBins to an octave.
  static std::size_t bin_of(std::uint64_t size) {
    const std::uint64_t unit = size / 512;
    const int shift = 63 - kSubBits - std::countl_zero(unit | kSubBins);
    return static_cast<std::size_t>(static_cast<std::uint64_t>(shift) * kSubBins + (unit >> shift));
  }

  static std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % 64); }
  void mark(std::size_t bin) {
    bins_.words[bin / 64] |= bit(bin);
    bins_.summary[bin / 64 / 64] |= bit(bin / 64);
  }
  void unmark(std::size_t bin) {
    bins_.words[bin / 64] &= ~bit(bin);
    if (bins_.words[bin / 64] == 0) bins_.summary[bin / 64 / 64] &= ~bit(bin / 64);
  }

  /// The first bin from `bin` on that holds a block, or kNoBin.
  std::size_t next_bin(std::size_t bin) const {
    if (bin >= kBins) return kNoBin;
    const std::uint64_t here = bins_.words[bin / 64] >> (bin % 64);
    if (here != 0) return bin + static_cast<std::size_t>(std::countr_zero(here));
    for (std::size_t word = bin / 64 + 1; word < kWords; word = word / 64 * 64 + 64) {
      const std::uint64_t later = bins_.summary[word / 64] >> (word % 64);
      if (later == 0) continue;
      const std::size_t found = word + static_cast<std::size_t>(std::countr_zero(later));
      return found * 64 + static_cast<std::size_t>(std::countr_zero(bins_.words[found]));
    }
    return kNoBin;
  }
  /// The last bin before `bin` that holds a block, or kNoBin.
  std::size_t previous_bin(std::size_t bin) const;

  Block** leftmost_link(std::size_t bin) {
    Block** link = &bins_.roots[bin];
    while ((*link)->left != nullptr) {
      link = &(*link)->left;
    }
    return link;
  }
  Block* leftmost(std::size_t bin) const {
    return bin == kNoBin ? nullptr : *const_cast<FreeBlocks*>(this)->leftmost_link(bin);
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
  Bins bins_;
};

}  // namespace ebb::cache
