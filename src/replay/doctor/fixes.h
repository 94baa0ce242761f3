// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fact/diagnosis.h"
#include "replay/forecast.h"
#include "replay/lifetimes.h"

namespace ebb::replay {

/// A fix and the replay in which the job fits with it, where it is one that can be replayed.
struct TestedFix {
  fact::Fix fix;
  std::optional<Row> row;
};

/// The smallest change under which every request is served: fewest settings first, then the best
/// that a search finds, then a higher limit where the device had the room (`room` bytes); the limit
/// first where it is the cause.
TestedFix fix_failure(const Workload& workload, const Row& recorded,
                      const Circumstances& circumstances, fact::Verdict verdict,
                      std::uint64_t room);

/// How much memory would be enough, with the best settings: no setting makes the job fit.
TestedFix fix_capacity(const Workload& workload, const Row& recorded,
                       const Circumstances& circumstances, const LowerBound& bound);

/// What `ebb tune` answers, where nothing failed: settings that hold less as the job goes on, as
/// far as what was recorded can tell.
TestedFix fix_peak(const Workload& workload, const Row& recorded,
                   const Circumstances& circumstances, fact::Verdict verdict);

/// The smallest limit, to 2 MiB, under which the settings serve every request; nothing where that
/// is more than any card has.
std::optional<std::uint64_t> smallest_limit(const Workload& workload, const std::string& conf,
                                            const Circumstances& circumstances,
                                            std::uint64_t at_least);

}  // namespace ebb::replay
