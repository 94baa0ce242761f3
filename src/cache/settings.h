// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "cache/version.h"

namespace ebb::cache {

inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::size_t kRoundingBuckets = 16;

/// The options of PYTORCH_CUDA_ALLOC_CONF, as values. The defaults are PyTorch's.
struct Settings {
  std::uint64_t max_split_size = kUnlimited;
  std::uint64_t max_non_split_rounding = 20 * base::kMiB;
  std::uint64_t large_segment_size = 20 * base::kMiB;
  /// Divisions of the power of two below a size; bucket 0 is everything below 2 MiB, bucket 1
  /// [2, 4) MiB, … bucket 15 from 32 GiB on. 0 and 1 round to 512 only.
  std::array<std::uint64_t, kRoundingBuckets> roundup_divisions{};
  double garbage_collection_threshold = 0;
  double memory_fraction = 1;  ///< the byte limit a device starts with; 1 is none
  bool expandable_segments = false;
  bool release_lock_on_cudamalloc = false;
  bool graph_capture_record_stream_reuse = false;
  bool throw_on_cudamalloc_oom = false;
  bool async_backend = false;  ///< backend:cudaMallocAsync, which this allocator does not model

  /// How much address space an expandable segment takes; unset is the device and an eighth.
  std::optional<double> reserve_fraction;
  std::optional<std::uint64_t> reserve_bytes;

  // Of the allocator for pinned host memory: carried along, without effect on a device.
  bool pinned_use_cuda_host_register = false;
  bool pinned_use_background_threads = false;
  bool pinned_free_catch_all = false;
  std::uint64_t pinned_num_register_threads = 1;
  std::uint64_t pinned_reserve_segment_size = 0;
  std::uint64_t pinned_max_round_threshold = kUnlimited;
  std::uint64_t pinned_max_cached_size = kUnlimited;

  std::string text;  ///< the string last read
};

/// Reads a settings string as that PyTorch does: with its keys, limits and leniency. What it resets
/// on every string starts from the default, the rest from `previous`. An error is one line with the
/// column (from 1) of the character it is about.
base::Result<Settings> parse_settings(std::string_view text, const VersionProfile& profile,
                                      const Settings& previous = {});

/// The least large_segment_size_mb.
inline constexpr std::uint64_t kLeastLargeSegmentMb = 11;
/// The least max_split_size_mb and max_non_split_rounding_mb beside a large segment of that size:
/// up to PyTorch 2.9 more than 20 MiB, later at least the segment.
std::uint64_t least_split_mb(std::uint64_t large_segment_size, const VersionProfile& profile);

/// The environment variable that decides, with its value.
struct SettingsVariable {
  std::string name;
  std::string value;
};

/// Of the variables that PyTorch reads, the first that is set; it never merges two.
/// `lookup` answers like getenv.
std::optional<SettingsVariable> settings_variable(const VersionProfile& profile,
                                                  const char* (*lookup)(const char* name));

/// The variable to put settings into: the newest name that this release reads.
const char* variable_to_set(const VersionProfile& profile);

}  // namespace ebb::cache
