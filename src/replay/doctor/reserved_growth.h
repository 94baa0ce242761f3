// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "replay/tune/growth.h"
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

/// Reserved memory that rises in steps which bring no new peak of live memory.
struct ReservedGrowth {
  std::uint64_t from = 0;  ///< most reserved until the end of the first step
  std::uint64_t to = 0;    ///< most reserved at all
  std::uint64_t live = 0;  ///< most live at all
  /// By which it rose in those steps; the rest came with a new peak of what is live.
  std::uint64_t without_live = 0;
  Growth growth;
  std::vector<GrowingSizes> sizes;  ///< of requests in those steps, what raised it most first
  std::vector<StepEnd> steps;       ///< from the first step on
};

/// Looks at the recorded job as it goes on, with the steps as they were recorded and, where they
/// differ, in another order: the worse of the two. Nothing where the job has no steps that repeat,
/// where less than a tenth of what is reserved or 2 MiB came in such a way, or where all of it came
/// in one step. Does not look at recordings of more than two million operations, so that a
/// diagnosis stays quick. `setup`: the recorded one.
std::optional<ReservedGrowth> find_reserved_growth(const Workload& workload, const Setup& setup);

/// from_bytes, to_bytes, live_bytes, without_live_bytes, sizes, and what is known of its end.
base::Json to_json(const ReservedGrowth& growth);

}  // namespace ebb::replay
