// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "cache/block.h"
#include "cache/pages.h"

namespace ebb::cache {

/// From the address handed out to its block: open addressing, linear probing, no tombstones. Never
/// more than half full, so that a look-up is one cache line. Not thread-safe.
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

  /// Null when the address was not handed out.
  Block* find(Address address) const { return slots_[look_up(address)].block; }

  /// Takes it out; null when the address was not handed out.
  Block* take(Address address) {
    const std::size_t at = look_up(address);
    Block* block = slots_[at].block;
    if (block == nullptr) [[unlikely]]
      return nullptr;
    close_gap(at);
    --size_;
    return block;
  }

 private:
  struct Slot {
    Address address = 0;
    Block* block = nullptr;  ///< null: empty
  };
  static constexpr std::size_t kFirstSlots = 1024;

  std::size_t home(Address address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15ULL) >> shift_);
  }

  /// The slot of `address`, or the empty one where the search ended.
  std::size_t look_up(Address address) const {
    std::size_t i = home(address);
    while (slots_[i].address != address && slots_[i].block != nullptr) {
      i = (i + 1) & mask_;
    }
    return i;
  }

  void place(Block* block) {
    std::size_t i = home(block->address);
    while (slots_[i].block != nullptr) {
      i = (i + 1) & mask_;
    }
    slots_[i] = {block->address, block};
  }

  void close_gap(std::size_t gap) {
    for (std::size_t i = (gap + 1) & mask_; slots_[i].block != nullptr; i = (i + 1) & mask_) {
      // An entry may move back only as far as its home.
      if (((i - home(slots_[i].address)) & mask_) < ((i - gap) & mask_)) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap] = {};
  }

  void rebuild(std::size_t slots);

  Slot* slots_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ebb::cache
