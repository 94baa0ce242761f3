// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

/// Caching allocators over a `device::Driver`: PyTorch's rules, exactly. `Core` holds the rules
/// for one device, `Allocator` makes them thread-safe; the rest are their parts and what is written
/// out of them.
namespace ebb::cache {

/// Which of two free blocks of equal size is taken first.
enum class TieBreak : std::uint8_t {
  address,   ///< the lower address
  creation,  ///< the block object created first
  segment,   ///< the segment obtained first, then the lower address
};

/// When pools made with use_on_oom serve a request that found no memory.
enum class OverflowPools : std::uint8_t { never, last, first };

/// What a private pool does with expandable_segments:True.
enum class PrivateExpandable : std::uint8_t {
  off,             ///< plain segments
  refused,         ///< an error while a MemPool is in use
  refused_custom,  ///< an error for pools with their own source of segments
  plain_custom,    ///< plain segments for pools with their own source of segments
};

/// What differs between PyTorch 2.1 and 2.15, as far as this allocator can see it.
struct VersionProfile {
  int minor = 11;  ///< PyTorch 2.minor

  TieBreak tie_break = TieBreak::address;
  OverflowPools overflow_pools = OverflowPools::first;
  PrivateExpandable private_expandable = PrivateExpandable::plain_custom;

  bool at_least(int wanted) const { return minor >= wanted; }

  /// roundup_power2_divisions of 1 leaves sizes above 512 as they are, not even multiples of 512.
  bool single_division_unrounded() const { return minor <= 3; }
  /// A byte limit exists even for a memory fraction of 1.
  bool limits_full_fraction() const { return minor <= 9; }
  bool rounds_limit_to_nearest() const { return minor >= 13; }
  /// "In a capture" means that the stream is really captured, not that any scope is open.
  bool asks_stream_for_capture() const { return minor >= 13; }
  bool newest_scope_first() const { return minor >= 10; }
  /// Streams that were recorded during a capture need no event once it is over.
  bool drops_capture_streams() const { return minor >= 4; }
  /// empty_cache in a capture does nothing; before, it was an error.
  bool skips_release_in_capture() const { return minor >= 8; }
  /// empty_cache applies to the MemPool that the calling thread is in.
  bool empty_cache_follows_scope() const { return minor == 6 || minor == 7; }
  /// The rest of a pool's deferred frees complete when its scope ends, with
  /// graph_capture_record_stream_reuse.
  bool completes_deferred_at_scope_end() const { return minor >= 12; }
  bool clears_history_when_disabled() const { return minor >= 3; }
};

inline constexpr int kOldestMinor = 1;
inline constexpr int kNewestMinor = 15;

/// Fails with bad_input outside 2.1 … 2.15.
base::Result<VersionProfile> profile_of(int minor);

/// Reads "2.11", "2.11.0" or "2.11.0+cu130".
base::Result<VersionProfile> parse_version(std::string_view text);

}  // namespace ebb::cache
