// SPDX-License-Identifier: Apache-2.0
#include "trace/extents.h"

#include <iterator>

namespace ebb::trace {
namespace {

bool fit(const std::pair<const Address, Extent>& low,
         const std::pair<const Address, Extent>& high) {
  const bool same_pool =
      !low.second.small_known || !high.second.small_known || low.second.small == high.second.small;
  return same_pool && low.second.expandable && high.second.expandable &&
         low.first + low.second.size == high.first && low.second.stream == high.second.stream &&
         low.second.pool == high.second.pool;
}

}  // namespace

bool Extents::overlaps(Address address, std::uint64_t size) const {
  const auto after = extents_.lower_bound(address);
  if (after != extents_.end() && after->first - address < size) return true;
  if (after == extents_.begin()) return false;
  const auto before = std::prev(after);
  return before->first + before->second.size > address;
}

bool Extents::add(Address address, const Extent& extent) {
  if (extent.size == 0 || overlaps(address, extent.size)) return false;
  const Place place = extents_.emplace(address, extent).first;
  if (extent.expandable) join_neighbours(place);
  return true;
}

void Extents::join_neighbours(Place extent) {
  const auto join = [&](Place low, Place high) {
    if (!low->second.small_known && high->second.small_known) {
      low->second.small = high->second.small;
      low->second.small_known = true;
    }
    low->second.size += high->second.size;
    extents_.erase(high);
  };
  if (const Place next = std::next(extent); next != extents_.end() && fit(*extent, *next)) {
    join(extent, next);
  }
  if (extent != extents_.begin() && fit(*std::prev(extent), *extent)) {
    join(std::prev(extent), extent);
  }
}

bool Extents::remove(Address address, std::uint64_t size, bool expandable) {
  Place place = extents_.upper_bound(address);
  if (place == extents_.begin()) return false;
  --place;
  const Extent extent = place->second;
  const std::uint64_t head = address - place->first;
  const bool inside = head <= extent.size && size <= extent.size - head;
  const bool whole = head == 0 && size == extent.size;
  if (!inside || extent.expandable != expandable || (!expandable && !whole)) return false;
  const std::uint64_t tail = extent.size - head - size;
  if (head > 0) {
    place->second.size = head;
  } else {
    extents_.erase(place);
  }
  if (tail > 0) {
    Extent rest = extent;
    rest.size = tail;
    extents_.emplace(address + size, rest);
  }
  return true;
}

}  // namespace ebb::trace
