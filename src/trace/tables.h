// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/memory_budget.h"
#include "trace/snapshot.h"

namespace ebb::trace {

/// Finds the number of something kept in a list elsewhere by its hash and a comparison; open
/// addressing, 8 bytes per place. Not thread-safe.
class IndexTable {
 public:
  explicit IndexTable(MemoryBudget& budget) : budget_(budget) {}

  /// The number for which `same(number)` holds, among those added under `hash`, or kNone.
  template <class Same>
  Index find(std::uint32_t hash, Same&& same) const {
    if (places_.empty()) return kNone;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Place& place = places_[at];
      if (place.index == kNone) return kNone;
      if (place.hash == hash && same(place.index)) return place.index;
    }
  }
  void add(std::uint32_t hash, Index index);

 private:
  struct Place {
    std::uint32_t hash = 0;
    Index index = kNone;
  };
  std::size_t mask() const { return places_.size() - 1; }
  void put(Place place);

  MemoryBudget& budget_;
  std::vector<Place> places_;
  std::size_t used_ = 0;
};

/// Texts, each kept once under a number; those of `Word` have the numbers that it gives them.
class TextTable {
 public:
  explicit TextTable(MemoryBudget& budget);

  /// kNone where the text is not UTF-8.
  Index intern(std::string_view text);
  const std::string& operator[](Index index) const { return texts_[index]; }
  std::string take(Index index) { return std::move(texts_[index]); }
  std::size_t size() const { return texts_.size(); }

 private:
  MemoryBudget& budget_;
  IndexTable table_;
  std::vector<std::string> texts_;
};

/// Stacks, each kept once.
class StackTable {
 public:
  explicit StackTable(MemoryBudget& budget) : budget_(budget), table_(budget) {}

  Index intern(std::span<const Index> frames);
  std::vector<std::vector<Index>>& all() { return stacks_; }

 private:
  MemoryBudget& budget_;
  IndexTable table_;
  std::vector<std::vector<Index>> stacks_;
};

/// Frames, each kept once.
class FrameTable {
 public:
  explicit FrameTable(MemoryBudget& budget) : budget_(budget), table_(budget) {}

  Index intern(const Frame& frame);
  std::vector<Frame>& all() { return frames_; }

 private:
  MemoryBudget& budget_;
  IndexTable table_;
  std::vector<Frame> frames_;
};

}  // namespace ebb::trace
