// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/packing.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

/// Neighbours looked at before the search ends; about a second.
constexpr std::uint64_t kMostVisits = 60'000'000;
constexpr int kRounds = 64;

struct Placed {
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
};

/// Placed blocks, found by when they are in use: a tree over time in which every block hangs at the
/// few nodes that together are its life.
class Calendar {
 public:
  explicit Calendar(std::uint32_t moments)
      : leaves_(std::bit_ceil(std::max<std::uint32_t>(moments, 2))),
        own_(2 * leaves_),
        below_(2 * leaves_) {}

  void add(std::uint32_t first, std::uint32_t last, const Placed& placed) {
    add(1, 0, leaves_, first, last, placed);
  }
  /// Blocks whose life meets [first, last); one may come more than once.
  void find(std::uint32_t first, std::uint32_t last, std::vector<Placed>& found) const {
    find(1, 0, leaves_, first, last, found);
  }

 private:
  void add(std::size_t node, std::uint32_t low, std::uint32_t high, std::uint32_t first,
           std::uint32_t last, const Placed& placed) {
    if (last <= low || high <= first) return;
    if (first <= low && high <= last) {
      own_[node].push_back(placed);
      return;
    }
    below_[node].push_back(placed);
    const std::uint32_t middle = low + (high - low) / 2;
    add(2 * node, low, middle, first, last, placed);
    add(2 * node + 1, middle, high, first, last, placed);
  }
  void find(std::size_t node, std::uint32_t low, std::uint32_t high, std::uint32_t first,
            std::uint32_t last, std::vector<Placed>& found) const {
    if (last <= low || high <= first) return;
    found.insert(found.end(), own_[node].begin(), own_[node].end());
    if (first <= low && high <= last) {
      found.insert(found.end(), below_[node].begin(), below_[node].end());
      return;
    }
    const std::uint32_t middle = low + (high - low) / 2;
    find(2 * node, low, middle, first, last, found);
    find(2 * node + 1, middle, high, first, last, found);
  }

  std::uint32_t leaves_;
  std::vector<std::vector<Placed>> own_;    ///< in use throughout the node's time
  std::vector<std::vector<Placed>> below_;  ///< in use during a part of it
};

/// The lowest offset at which `bytes` meet none of `taken`, which is sorted here.
std::uint64_t lowest_gap(std::vector<Placed>& taken, std::uint64_t bytes) {
  std::sort(taken.begin(), taken.end(),
            [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  std::uint64_t offset = 0;
  for (const Placed& placed : taken) {
    if (placed.offset >= offset + bytes) break;
    offset = std::max(offset, placed.end);
  }
  return offset;
}

class Packer {
 public:
  explicit Packer(const std::vector<Lifetime>& lives) : lives_(lives) {
    for (const Lifetime& life : lives) {
      moments_ = std::max(moments_, life.last);
    }
  }

  /// Places all blocks in this order and keeps the result if it is the best. Returns the position
  /// in the order of the block that sticks out most, or nothing when the work is used up.
  std::optional<std::size_t> try_order(const std::vector<std::uint32_t>& order) {
    Calendar calendar(moments_);
    visits_ += 4 * std::uint64_t{moments_};  // what the calendar itself costs
    Packing packing;
    packing.offsets.assign(lives_.size(), 0);
    std::size_t highest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Lifetime& life = lives_[order[i]];
      if (life.bytes == 0) continue;
      taken_.clear();
      calendar.find(life.first, life.last, taken_);
      visits_ += taken_.size();
      if (visits_ > kMostVisits && best_.height != 0) return std::nullopt;
      const std::uint64_t offset = lowest_gap(taken_, life.bytes);
      packing.offsets[order[i]] = offset;
      if (offset + life.bytes > packing.height) {
        packing.height = offset + life.bytes;
        highest = i;
      }
      calendar.add(life.first, life.last, {offset, offset + life.bytes});
    }
    if (best_.height == 0 || packing.height < best_.height) best_ = std::move(packing);
    return highest;
  }

  Packing& best() { return best_; }

 private:
  const std::vector<Lifetime>& lives_;
  std::uint32_t moments_ = 0;
  std::uint64_t visits_ = 0;
  std::vector<Placed> taken_;
  Packing best_;
};

}  // namespace

Packing pack(const std::vector<Lifetime>& lives, std::uint64_t bound) {
  std::vector<std::uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto length = [&](std::uint32_t i) { return lives[i].last - lives[i].first; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool a_large = lives[a].bytes > base::kMiB;
    const bool b_large = lives[b].bytes > base::kMiB;
    return a_large != b_large ? a_large : length(a) > length(b);
  });
  Packer packer(lives);
  packer.try_order(order);
  if (packer.best().height <= bound) return std::move(packer.best());
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lives[a].bytes != lives[b].bytes ? lives[a].bytes > lives[b].bytes
                                            : lives[a].last > lives[b].last;
  });
  for (int round = 0; round < kRounds; ++round) {
    const auto highest = packer.try_order(order);
    if (!highest || packer.best().height <= bound) break;
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(*highest);
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(*highest / 2), at, at + 1);
  }
  return std::move(packer.best());
}

}  // namespace ebb::replay
