// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/json.h"
#include "replay/lifetimes.h"
#include "replay/workload.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Live bytes that rise from step to step.
struct Leak {
  std::vector<std::size_t> events;  ///< with which each step begins
  std::vector<std::uint64_t> live;  ///< just before each of them
  std::uint64_t per_step = 0;       ///< bytes, on average after the first steps
  std::vector<Lifetime> blocks;     ///< allocated in a step, and still there two steps later
};

/// Steps come from the recording's annotations or from requests that repeat. Nothing where there
/// are fewer than six, or where live bytes do not rise in nearly every one of them.
std::optional<Leak> find_leak(const trace::Snapshot& snapshot, int device,
                              const Workload& workload);

}  // namespace ebb::replay
