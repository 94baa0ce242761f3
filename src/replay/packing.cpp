// SPDX-License-Identifier: Apache-2.0
#include "replay/packing.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

/// Neighbours looked at before an order is given up; about two seconds.
constexpr std::uint64_t kMostVisits = 400'000'000;

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

/// Height 0 when it was given up.
Packing pack_in_order(const std::vector<Lifetime>& lives, const std::vector<std::uint32_t>& order,
                      bool may_give_up) {
  std::uint32_t moments = 0;
  for (const Lifetime& life : lives) {
    moments = std::max(moments, life.last);
  }
  Calendar calendar(moments);
  Packing packing;
  packing.offsets.assign(lives.size(), 0);
  std::vector<Placed> taken;
  std::uint64_t visits = 0;
  for (const std::uint32_t index : order) {
    const Lifetime& life = lives[index];
    if (life.bytes == 0) continue;
    taken.clear();
    calendar.find(life.first, life.last, taken);
    visits += taken.size();
    if (may_give_up && visits > kMostVisits) return {};
    const std::uint64_t offset = lowest_gap(taken, life.bytes);
    packing.offsets[index] = offset;
    packing.height = std::max(packing.height, offset + life.bytes);
    calendar.add(life.first, life.last, {offset, offset + life.bytes});
  }
  return packing;
}

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
  Packing best = pack_in_order(lives, order, false);
  if (best.height <= bound) return best;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lives[a].bytes != lives[b].bytes ? lives[a].bytes > lives[b].bytes
                                            : length(a) > length(b);
  });
  Packing by_size = pack_in_order(lives, order, true);
  return by_size.height != 0 && by_size.height < best.height ? by_size : best;
}

}  // namespace ebb::replay
