// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/reclaimer.h"
#include "cache/allocator.h"

namespace ebb::cache {

/// Why the first attempt found no memory.
enum class Cause : std::uint8_t {
  none,           ///< it did
  fragmentation,  ///< enough of this process's memory was free, in pieces too small
  shortage,       ///< too much of it was in use
  refused,        ///< the request or the driver, not memory, was the problem
};

/// What made the second attempt succeed.
enum class Remedy : std::uint8_t {
  none,     ///< nothing was needed, or nothing helped
  hooks,    ///< cleanup hooks freed memory
  waiting,  ///< frees that waited for other streams were done by then
};

/// What one cleanup hook did.
struct HookReport {
  std::string name;
  bool ok = true;
  std::string detail;
  double seconds = 0;
};

/// A request with a cleanup behind it, and everything that was seen on the way.
struct SafeAllocation {
  Address address = 0;  ///< 0: no memory, `last` says why
  Cause cause = Cause::none;
  Remedy remedy = Remedy::none;
  Failure first;                  ///< of the first attempt
  Failure last;                   ///< of the second one
  std::vector<HookReport> hooks;  ///< in the order they ran
  std::uint64_t let_go = 0;       ///< bytes in use before the hooks and not after
  std::uint64_t returned = 0;     ///< reserved bytes that went back to the device
  double seconds = 0;             ///< spent between the two attempts

  bool ok() const { return address != 0; }
};

/// Allocates; when there is no memory, runs the cleanup hooks (device caches too) and empties the
/// cache, outside the allocator's lock, and tries once more.
SafeAllocation safe_allocate(Allocator& allocator, base::ReclaimerRegistry& hooks,
                             std::uint64_t bytes, StreamId stream,
                             const base::Clock& clock = base::system_clock());

/// One line: what was asked, why it failed at first, what was done and what helped.
std::string text_of(const SafeAllocation& allocation);

}  // namespace ebb::cache
