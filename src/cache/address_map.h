// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "cache/block.h"

namespace ebb::cache {

/// From the address handed out to its block: open addressing, linear probing, no tombstones. Never
/// more than half full, so that a look-up is one cache line. Not thread-safe.
class AddressMap {
 public:
  AddressMap() { rebuild(kFirstSlots); }

  std::size_t size() const { return size_; }

  void insert(Block* block) {
    if (size_ * 2 >= slots_.size()) [[unlikely]]
      rebuild(slots_.size() * 2);
    place(block);
    ++size_;
  }

  /// Null when the address was not handed out.
  Block* find(Address address) const {
    for (std::size_t i = home(address);; i = (i + 1) & mask_) {
      if (slots_[i].address == address) return slots_[i].block;
      if (slots_[i].block == nullptr) return nullptr;
    }
  }

  /// Takes it out; null when the address was not handed out.
  Block* take(Address address) {
    std::size_t i = home(address);
    while (slots_[i].address != address) {
      if (slots_[i].block == nullptr) return nullptr;
      i = (i + 1) & mask_;
    }
    Block* block = slots_[i].block;
    if (block == nullptr) return nullptr;
    close_gap(i);
    --size_;
    return block;
  }

  /// Brings the line that a look-up will need closer.
  void prefetch(Address address) const { __builtin_prefetch(&slots_[home(address)]); }

 private:
  struct Slot {
    Address address = 0;
    Block* block = nullptr;
  };
  static constexpr std::size_t kFirstSlots = 256;

  std::size_t home(Address address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15ULL) >> shift_);
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
      if (((i - home(slots_[i].address)) & mask_) >= ((i - gap) & mask_)) {
        slots_[gap] = slots_[i];
        gap = i;
      }
    }
    slots_[gap] = {};
  }

  void rebuild(std::size_t slots) {
    std::vector<Slot> old(slots);
    old.swap(slots_);
    mask_ = slots - 1;
    shift_ = 64 - std::countr_zero(slots);
    for (const Slot& slot : old) {
      if (slot.block != nullptr) place(slot.block);
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  int shift_ = 0;
};

}  // namespace ebb::cache
