// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/lifetimes.h"
#include "replay/workload.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Memory that every step leaves behind.
struct Leak {
  std::vector<std::size_t> events;  ///< with which each step begins
  std::vector<std::uint64_t> live;  ///< bytes in use just before each of them
  std::vector<std::uint64_t> kept;  ///< bytes of each step that are not freed before the end
  bool by_kept = false;             ///< told by `kept`; else by `live`
  std::uint64_t per_step = 0;       ///< bytes, on average after the first steps
  std::vector<Lifetime> blocks;     ///< what is left behind
};

/// Steps come from the recording's annotations or from requests that repeat. A leak is what nearly
/// every step keeps for ever, or live bytes that rise in nearly every step and hardly ever fall. It
/// must be steady over the steps: the layers of a model repeat too, but not evenly. Only the
/// history up to the last failed request counts, because a job frees everything afterwards. Nothing
/// if there are fewer than six steps, or if it amounts to less than 1 MiB or 1 % of what is live.
std::optional<Leak> find_leak(const trace::Snapshot& snapshot, int device,
                              const Workload& workload);

}  // namespace ebb::replay
