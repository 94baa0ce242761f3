// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "trace/snapshot.h"

namespace ebb::trace {

/// Memory held from the device: a plain segment, or mapped pages of an expandable one.
struct Extent {
  std::uint64_t size = 0;
  Stream stream = 0;
  PoolId pool;
  Index stack = kNone;
  bool small = false;
  bool small_known = false;
  bool expandable = false;
  bool pool_known = true;
  std::size_t event = 0;  ///< that told of it
};

/// Extents by address, none over another. Not thread-safe.
class Extents {
 public:
  /// Mapped pages join those that they touch, as in a snapshot's segments. False, and nothing
  /// changes, where it overlaps another or is empty.
  bool add(Address address, const Extent& extent);

  /// Takes a plain segment or a range of mapped pages away; false where there is none like that.
  bool remove(Address address, std::uint64_t size, bool expandable);

  const std::map<Address, Extent>& all() const { return extents_; }

 private:
  using Place = std::map<Address, Extent>::iterator;

  bool overlaps(Address address, std::uint64_t size) const;
  void join_neighbours(Place extent);

  std::map<Address, Extent> extents_;
};

}  // namespace ebb::trace
