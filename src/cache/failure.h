// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "cache/pool.h"
#include "cache/version.h"

namespace ebb::cache {

enum class FailureKind : std::uint8_t {
  none,
  out_of_memory,
  too_large,     ///< an absurd size; nothing was tried or counted
  rejected,      ///< throw_on_cudamalloc_oom refused it beforehand
  driver_error,  ///< the driver failed for another reason than lack of memory
};

/// Why a request got no memory: what was asked, what there was, what was tried. All numbers are
/// of the moment after everything was tried.
struct Failure {
  FailureKind kind = FailureKind::none;
  int device = 0;
  StreamId stream = 0;
  PoolId pool;

  std::uint64_t requested = 0;       ///< bytes asked for
  std::uint64_t rounded = 0;         ///< the block they need
  std::uint64_t segment = 0;         ///< the segment asked of the driver for it
  std::uint64_t limit = kUnlimited;  ///< bytes this process may take, if limited
  std::uint64_t device_total = 0;
  std::uint64_t device_free = 0;

  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t reserved = 0;
  std::uint64_t inactive_split = 0;       ///< free pieces of segments that are partly in use
  std::uint64_t private_free = 0;         ///< free bytes of private pools
  std::uint64_t largest_free = 0;         ///< the largest free block of all
  std::uint64_t largest_free_usable = 0;  ///< … of the request's own pool and stream

  bool asked_overflow_pools = false;
  bool in_capture = false;              ///< so nothing could be synchronised and released
  bool retried = false;                 ///< after releasing everything
  std::uint64_t garbage_collected = 0;  ///< bytes given back by garbage collection
  std::uint64_t released_oversize = 0;  ///< bytes given back because of max_split_size
  std::uint64_t released = 0;           ///< bytes given back by releasing the cache

  base::Error driver;  ///< of driver_error: what the driver said

  /// Share of the reserved bytes that nothing uses, 0 to 1.
  double fragmentation() const;
  /// Free bytes inside this process's segments would have been enough.
  bool is_fragmentation() const { return reserved - active >= rounded; }
};

/// PyTorch's message of that version, without the lines about other processes.
std::string message_of(const Failure& failure, const VersionProfile& profile,
                       bool expandable_segments);

/// A size as in those messages: "512 bytes", "2.00 MiB".
std::string torch_size_text(std::uint64_t bytes);

/// One line for people and logs: the numbers that decide, and what was tried.
std::string summary_of(const Failure& failure);

/// The failure as an Error: code out_of_memory, or the driver's own.
base::Error error_of(const Failure& failure, const VersionProfile& profile,
                     bool expandable_segments);

}  // namespace ebb::cache
