// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/block.h"

namespace ebb::cache {

struct Lane;

/// One piece of memory from the driver: a plain segment, or the address range of an expandable one.
struct Segment {
  Address address = 0;
  std::uint64_t size = 0;
  Lane* lane = nullptr;
  std::uint64_t counter = 0;  ///< how many segments the process had obtained before
  /// The pool's count of searches when a block of this segment last became free. Only a block that
  /// is the whole segment has an age, so one per segment is enough.
  std::uint64_t freed_at = 0;
  std::uint64_t page = 0;  ///< of expandable segments: bytes that are mapped and unmapped at once

  bool expandable() const { return page != 0; }
};

/// The segments of a device under small numbers that are reused. Not thread-safe.
class SegmentTable {
 public:
  std::uint32_t add(const Segment& segment) {
    if (unused_.empty()) {
      segments_.push_back(segment);
      return static_cast<std::uint32_t>(segments_.size() - 1);
    }
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    segments_[index] = segment;
    return index;
  }
  void remove(std::uint32_t index) { unused_.push_back(index); }

  std::size_t size() const { return segments_.size(); }
  Segment& operator[](std::uint32_t index) { return segments_[index]; }
  const Segment& operator[](std::uint32_t index) const { return segments_[index]; }

 private:
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace ebb::cache
