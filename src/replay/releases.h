// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cache/settings.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// What is known of the allocator while a history is read.
struct KnownSettings {
  cache::Settings settings;
  std::optional<std::uint64_t> limit;
};

/// Who gave segments back.
struct Releases {
  /// The index of the last event of every burst for which the job called empty_cache. The other
  /// bursts are the allocator's own, to serve a request or by garbage collection.
  std::vector<std::size_t> by_job;
  /// Smallest that the allocator held together with what it wanted when it gave segments back to
  /// serve a request: its limit was below. kUnlimited where it never did.
  std::uint64_t limit_below = cache::kUnlimited;
};

/// Whether a segment, or a part of one, went back to the device.
inline bool is_release(const trace::Event& event) {
  return event.action == trace::Action::segment_free ||
         event.action == trace::Action::segment_unmap;
}

/// A recording does not say who it was. In this order decide: its stack; what follows (a burst is
/// the job's if no new memory follows, or if what went back could have served the request that
/// asked for some); the limit, where it is known; how long nothing happened after it.
Releases releases_in(const trace::Snapshot& snapshot, const std::vector<trace::Event>& events,
                     std::uint64_t reserved_at_start, const KnownSettings& known);

}  // namespace ebb::replay
