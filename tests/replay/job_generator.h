// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/workload.h"

namespace ebb::replay {

/// A small job as people run them with PyTorch, and what became of it.
struct GeneratedJob {
  std::string family;  ///< what kind of job it is, e.g. "varying_lengths"
  Workload recorded;   ///< about 1,000 requests from its beginning on
  Workload whole;      ///< the same job after four times as long, its draws going on
  /// The operations of `whole` at which its steps begin. What a server does has no steps: there it
  /// is every arrival, departure and answer.
  std::vector<std::uint32_t> steps;
};

/// The job of a seed: always the same, on every platform. It shares no code with whatever tunes for
/// jobs that go on, so that it can judge that.
GeneratedJob generate_job(std::uint64_t seed);

/// The kinds of job that there are; seeds draw one of them.
std::vector<std::string> job_families();

}  // namespace ebb::replay
