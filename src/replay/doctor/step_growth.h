// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/lifetimes.h"
#include "replay/workload.h"
#include "trace/snapshot.h"

// What it takes to say that memory grows from step to step, of all that is live or of a part of it.

namespace ebb::replay {

/// Steps that are left out: the first ones create caches, optimizer state and graphs, and what the
/// last ones allocate might still have been freed in the next.
inline constexpr std::size_t kWarmUpSteps = 2;
inline constexpr std::size_t kUnfinishedSteps = 2;
inline constexpr std::size_t kLeastSteps = 6;

/// Bytes, step by step.
using Amounts = std::vector<std::uint64_t>;
std::uint64_t sum_of(const Amounts& amounts);

/// The steps of a job, by annotations or by requests that repeat; none where nothing shows them.
struct JobSteps {
  std::vector<std::size_t> events;        ///< with which each step begins
  std::vector<std::uint32_t> operations;  ///< the first one of each step
  /// The last failed request, after which a job frees everything; else the end of the history.
  std::uint32_t end = 0;

  bool are_enough() const { return operations.size() >= kLeastSteps; }
};
/// See JobSteps::end.
std::uint32_t end_of_job(const Workload& workload);

JobSteps steps_of(const trace::Snapshot& snapshot, int device, const Workload& workload);

/// How many of the moments, which ascend, are not after this operation.
std::size_t moments_until(const std::vector<std::uint32_t>& moments, std::uint32_t operation);

/// The step that allocates a block which the job has not given back at its end; nothing for others.
std::optional<std::size_t> keeping_step(const Lifetime& life, std::uint32_t end,
                                        const std::vector<std::uint32_t>& begins);

/// Bytes in nearly every step, and about as many in the later ones as in the earlier ones.
bool is_steady(const Amounts& growth);

/// What is below 1 MiB, or below 1 % of what is live, is noise.
bool is_much(std::uint64_t growth, std::uint64_t live);

/// Bytes a step, where what is live at the beginnings of steps rises in nearly every one of them
/// and hardly ever falls, by much of `all`.
std::optional<std::uint64_t> steady_rise(const Amounts& live, std::uint64_t all);

}  // namespace ebb::replay
