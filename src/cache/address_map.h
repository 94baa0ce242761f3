// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "cache/block.h"
#include "cache/pages.h"

namespace ebb::cache {

/// From the address handed out to its block: open addressing, linear probing, no tombstones. Never
/// more than half full, so that a look-up is one cache line. Not thread-safe.
///
/// A slot is one word, since what a look-up costs is what the caches cannot hold: the block's
/// address without the bits that are always 0, and above it the first bits of the key's hash, which
/// nearly always tell a wrong slot without a look at its block.
class AddressMap {
 public:
  AddressMap() { rebuild(kFirstSlots); }
  AddressMap(const AddressMap&) = delete;
  AddressMap& operator=(const AddressMap&) = delete;
  ~AddressMap() { unmap_pages(slots_, (mask_ + 1) * sizeof(Slot)); }

  std::size_t size() const { return size_; }

  void insert(Block* block) {
    if (size_ * 2 > mask_) [[unlikely]]
      rebuild((mask_ + 1) * 2);
    place(block);
    ++size_;
  }

  /// Fetches the slot of an address that is about to be handed out.
  void prefetch(Address address) const { __builtin_prefetch(&slots_[home(hash(address))], 1); }

  /// Null when the address was not handed out.
  Block* find(Address address) const { return block_of(slots_[look_up(address)]); }

  /// Takes it out; null when the address was not handed out.
  Block* take(Address address) {
    const std::size_t at = look_up(address);
    Block* block = block_of(slots_[at]);
    if (block == nullptr) [[unlikely]]
      return nullptr;
    close_gap(at);
    --size_;
    return block;
  }

 private:
  using Slot = std::uint64_t;  ///< 0: empty
  static constexpr std::size_t kFirstSlots = 1024;
  static constexpr int kAlignmentBits = 6;
  static constexpr int kPointerBits = 48 - kAlignmentBits;
  static constexpr int kTagBits = 64 - kPointerBits;
  static_assert(alignof(Block) == std::size_t{1} << kAlignmentBits);

  static std::uint64_t hash(Address address) { return address * 0x9E3779B97F4A7C15ULL; }
  static Slot slot_of(const Block* block) {
    return (hash(block->address) >> kPointerBits << kPointerBits) |
           (reinterpret_cast<std::uintptr_t>(block) >> kAlignmentBits);
  }
  static Block* block_of(Slot slot) {
    constexpr Slot kPointer = (Slot{1} << kPointerBits) - 1;
    return reinterpret_cast<Block*>((slot & kPointer) << kAlignmentBits);
  }

  std::size_t home(std::uint64_t hashed) const {
    return static_cast<std::size_t>(hashed >> shift_);
  }
  /// Where an entry would lie if it were alone: the tag knows it, unless the table is very large.
  std::size_t home_of(Slot slot) const {
    return home(64 - shift_ <= kTagBits ? slot : hash(block_of(slot)->address));
  }

  /// The slot of `address`, or the empty one where the search ended.
  std::size_t look_up(Address address) const {
    const std::uint64_t hashed = hash(address);
    std::size_t i = home(hashed);
    while (slots_[i] != 0) {
      const bool same_tag = (slots_[i] ^ hashed) >> kPointerBits == 0;
      if (same_tag && block_of(slots_[i])->address == address) break;
      i = (i + 1) & mask_;
    }
    return i;
  }

  void place(const Block* block) {
    std::size_t i = home(hash(block->address));
    while (slots_[i] != 0) {
      i = (i + 1) & mask_;
    }
    slots_[i] = slot_of(block);
  }

  void close_gap(std::size_t gap) {
    for (std::size_t i = (gap + 1) & mask_; slots_[i] != 0; i = (i + 1) & mask_) {
      // An entry may move back only as far as its home.
      if (((i - home_of(slots_[i])) & mask_) < ((i - gap) & mask_)) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap] = 0;
  }

  void rebuild(std::size_t slots);

  Slot* slots_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ebb::cache
