// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/tune/foresight.h"
#include "replay/workload.h"

namespace ebb::replay {

/// Requests of similar sizes for which memory was taken from the device.
struct GrowingSizes {
  std::uint64_t smallest = 0;  ///< request
  std::uint64_t largest = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;  ///< by which they raised what is reserved
};
std::string text_of(const GrowingSizes& sizes);

/// Reserved memory that goes on to grow from step to step, by more than live memory does.
struct ReservedGrowth {
  std::uint64_t from = 0;          ///< most reserved in the recording
  std::uint64_t to = 0;            ///< most reserved later, as a rule
  std::uint64_t worst = 0;         ///< at the most
  std::uint64_t live = 0;          ///< most allocated in the future that stands for the rule
  std::uint64_t without_live = 0;  ///< the growth that live memory does not explain, as a rule
  std::uint64_t futures = 0;       ///< that were tried
  std::uint64_t out_of_memory =
      0;  ///< futures that run out of memory: only under a limit by which garbage is collected
  std::optional<Growth> growth;  ///< of the future that stands for the rule, unless that is one
  std::vector<GrowingSizes>
      sizes;                 ///< there, of requests that went beyond `from`; most bytes first
  std::vector<FanStep> fan;  ///< over all futures
};

/// "stands still after 12 steps", or how else it ends, after "it"; and how many futures run out of
/// memory, where some do.
std::string end_text(const ReservedGrowth& growth);
/// "though live memory does not", or that it grows by less, as of a job that leaks.
std::string beside_live(const ReservedGrowth& growth);

/// Looks at the recorded job as it goes on, as foresee() does. Nothing unless more than half of
/// these futures go beyond what was recorded by a tenth of it and 2 MiB, what live memory adds not
/// counted; and where the job has no steps that repeat. Does not look at recordings of more than
/// two million operations, so that a diagnosis stays quick. `recorded`: what a replay of the
/// recording with `setup` came to.
std::optional<ReservedGrowth> find_reserved_growth(const Workload& workload, const Setup& setup,
                                                   const Outcome& recorded);

/// from_bytes, to_bytes, worst_bytes, live_bytes, without_live_bytes, futures,
/// out_of_memory_futures, sizes, and what is known of its end.
base::Json to_json(const ReservedGrowth& growth);

}  // namespace ebb::replay
