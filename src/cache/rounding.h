// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cache/settings.h"

namespace ebb::cache {

inline constexpr std::uint64_t kMinBlock = 512;
inline constexpr std::uint64_t kSmallLimit = base::kMiB;
inline constexpr std::uint64_t kSmallSegment = 2 * base::kMiB;
inline constexpr std::uint64_t kMinLarge = 10 * base::kMiB;
inline constexpr std::uint64_t kRoundLarge = 2 * base::kMiB;
/// Requests from here on fail before anything is tried.
inline constexpr std::uint64_t kAbsurdSize = std::uint64_t{1} << 60;

using base::round_up;

/// How requests are rounded under one set of settings. The common case is a single addition.
class Rounding {
 public:
  Rounding() = default;
  Rounding(const Settings& settings, const VersionProfile& profile)
      : divisions_(settings.roundup_divisions), unrounded_(profile.single_division_unrounded()) {
    const std::uint64_t least_effective = unrounded_ ? 1 : 2;
    plain_ = std::all_of(divisions_.begin(), divisions_.end(),
                         [&](std::uint64_t d) { return d < least_effective; });
  }

  /// The block size for a request. Requires: 1 <= bytes < kAbsurdSize.
  std::uint64_t operator()(std::uint64_t bytes) const {
    if (plain_) [[likely]]
      return (bytes + kMinBlock - 1) & ~(kMinBlock - 1);
    return with_divisions(bytes);
  }

 private:
  std::uint64_t with_divisions(std::uint64_t bytes) const {
    if (bytes < kMinBlock) return kMinBlock;
    const int log = 63 - std::countl_zero(bytes);
    const int bucket = std::clamp(log - 20, 0, static_cast<int>(kRoundingBuckets) - 1);
    const std::uint64_t divisions = divisions_[static_cast<std::size_t>(bucket)];
    if (divisions < (unrounded_ ? 1U : 2U) || bytes <= kMinBlock * divisions) {
      return round_up(bytes, kMinBlock);
    }
    if (std::has_single_bit(bytes)) return bytes;
    const std::uint64_t below = std::uint64_t{1} << log;
    // One division means steps as large as the power of two itself, which old versions took for
    // "leave it alone".
    return divisions == 1 ? bytes : round_up(bytes, below / divisions);
  }

  std::array<std::uint64_t, kRoundingBuckets> divisions_{};
  bool unrounded_ = false;
  bool plain_ = true;
};

/// What is asked of the driver for a rounded size: also the size that limits are checked with and
/// that an out-of-memory message names.
constexpr std::uint64_t segment_size(std::uint64_t rounded, std::uint64_t large_segment) {
  if (rounded <= kSmallLimit) return kSmallSegment;
  if (rounded < kMinLarge) return large_segment;
  return round_up(rounded, kRoundLarge);
}

}  // namespace ebb::cache
