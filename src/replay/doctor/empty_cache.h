// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "replay/workload.h"

namespace ebb::replay {

/// What a job's own calls of empty_cache came to, as far as its history shows: a call that found
/// nothing to give back leaves no trace.
struct EmptyCacheUse {
  std::uint64_t calls = 0;
  std::uint64_t released = 0;  ///< bytes that they gave back
  std::uint64_t retaken = 0;   ///< of these, what was taken from the device again before the next
  std::uint64_t driver_calls = 0;  ///< for both
  std::uint64_t steps = 0;         ///< of the job; 0 if nothing shows them
  /// From the first to the last thing that each call gave back, where times were recorded. What the
  /// device waited for before that, and taking memory again, come on top.
  std::optional<double> seconds;

  /// Whether they are part of what the job repeats, and what they give back is needed again.
  bool is_harmful() const;
};

EmptyCacheUse empty_cache_use(const trace::Snapshot& snapshot, int device,
                              const Workload& workload);

base::Json to_json(const EmptyCacheUse& use);

}  // namespace ebb::replay
