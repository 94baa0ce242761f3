// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/snapshot.h"
#include "cache/stats.h"
#include "replay/placement.h"
#include "replay/replay_driver.h"
#include "replay/workload.h"

namespace ebb::replay {

/// One way to run a workload.
struct Setup {
  cache::Settings settings;
  cache::VersionProfile profile;
  std::uint64_t limit = cache::kUnlimited;  ///< bytes this process may take on the device
  Placement placement = Placement::recorded;
  bool keep_events = false;
  bool keep_curve = false;
  bool keep_segments = false;
  bool keep_rises = false;
  /// Index of the last operation to perform, for a look at that moment.
  std::uint32_t last_operation = static_cast<std::uint32_t>(-1);
  /// Waits of the recording are taken as they were; for the recorded settings only.
  bool as_recorded = false;
  /// Gives up, with Outcome::abandoned, once more than this is reserved.
  std::uint64_t abandon_above = cache::kUnlimited;
  /// Operations before which it is written down what was held: the ends of steps, in order.
  const std::vector<std::uint32_t>* step_ends = nullptr;
};

/// A request that found no memory.
struct OutOfMemory {
  std::uint64_t requests = 0;  ///< allocations and frees before it
  std::uint32_t operation = 0;
  std::uint64_t bytes = 0;
  bool recorded = false;  ///< it failed in the recording too
  cache::Failure failure;
};

/// How much was held after some request.
struct CurvePoint {
  std::uint64_t requests = 0;
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
};

/// How much was held when a step ended.
struct StepEnd {
  std::uint64_t peak_reserved = 0;   ///< so far
  std::uint64_t peak_allocated = 0;  ///< likewise
  std::uint64_t reserved = 0;
  std::uint64_t allocated = 0;
};

/// A new peak of what is reserved.
struct Rise {
  std::uint64_t request = 0;  ///< bytes of the request that brought it
  std::uint64_t bytes = 0;    ///< above the peak before it
};

struct Outcome {
  std::uint64_t peak_reserved = 0;
  std::uint64_t peak_allocated = 0;
  std::uint64_t final_reserved = 0;
  std::uint64_t final_allocated = 0;
  std::uint32_t peak_operation = 0;  ///< the first with the most reserved
  std::uint64_t retries = 0;
  DriverCalls calls;
  std::optional<OutOfMemory> oom;  ///< the first
  std::uint64_t ooms = 0;
  std::uint64_t rescued = 0;  ///< requests that failed in the recording and do not here
  bool abandoned = false;
  std::uint64_t requests = 0;  ///< replayed, to the end or to the first unrecorded failure
  cache::Stats stats;          ///< at the end
  std::map<cache::PoolId, cache::PooledCounter> private_reserved;  ///< likewise
  std::vector<SegmentEvent> events;
  std::vector<CurvePoint> curve;
  std::vector<StepEnd> steps;                    ///< of Setup::step_ends, as far as it came
  std::vector<Rise> rises;                       ///< with keep_rises
  std::vector<cache::SnapshotSegment> segments;  ///< at the end
  std::vector<Address> addresses;                ///< by block; with keep_segments
};

/// Runs all of the job's requests through PyTorch's allocator. Stops at the first failure that is
/// not in the recording, since nobody knows what the job would have done next. The same inputs give
/// the same outcome. Thread-safe.
Outcome replay(const Workload& workload, const Setup& setup);

}  // namespace ebb::replay
