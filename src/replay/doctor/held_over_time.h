// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "replay/doctor/step_growth.h"
#include "replay/lifetimes.h"
#include "replay/workload.h"

namespace ebb::replay {

/// The blocks of a job, each with a number that says whose it is.
struct NumberedBlocks {
  const std::vector<Lifetime>& lives;  ///< by block
  std::vector<std::uint32_t> number;   ///< of each of them
  std::size_t count = 0;               ///< of numbers: they are below it
};

/// What numbers hold at a few moments of a job: the beginnings of its steps (of some, evenly, where
/// they are many), or else as many moments with as many operations between them; the beginning and
/// the end. All it is made of outlives it. For one thread.
class HeldOverTime {
 public:
  struct Steps {
    bool are_enough = false;            ///< to tell growth; else the rest says nothing
    std::size_t stride = 1;             ///< steps from one of these to the next
    std::size_t settled = 0;            ///< the first of these after warm-up
    std::vector<std::uint32_t> begins;  ///< the first operation of each
    std::vector<std::size_t> moments;   ///< the index of each among the moments
    std::size_t end = 0;                ///< the same for the end of the last one
    std::uint32_t end_operation = 0;
  };

  HeldOverTime(const Workload& workload, const JobSteps& job, const NumberedBlocks& blocks);

  const Steps& steps() const { return steps_; }
  /// Allocations and frees before each.
  const std::vector<std::uint64_t>& moments() const { return requests_; }
  /// Of all numbers together, at each moment.
  const std::vector<std::uint64_t>& totals() const { return totals_; }
  /// The most that each number held at one of the moments.
  const std::vector<std::uint64_t>& most() const { return most_; }

  /// One row for each of the numbers asked for: bytes at each moment, and bytes that each step
  /// allocated and nothing freed until the end of the last one.
  struct Rows {
    std::vector<std::vector<std::uint64_t>> over_time;
    std::vector<Amounts> kept;
  };
  Rows rows_of(const std::vector<std::uint32_t>& numbers) const;

 private:
  /// What is held at a moment, and whose share of that has changed since the last one.
  struct Moment {
    std::vector<std::uint64_t> held;  ///< by number
    std::vector<std::uint32_t> changed;
    std::uint64_t total = 0;
    std::uint64_t requests = 0;
  };

  void choose_moments(const JobSteps& job);
  template <class AtMoment>
  void walk(AtMoment&& at_moment) const;

  const Workload& workload_;
  const NumberedBlocks& blocks_;
  Steps steps_;
  std::vector<std::uint32_t> operations_;  ///< the moments: just before each of these
  std::vector<std::uint64_t> requests_;
  std::vector<std::uint64_t> totals_;
  std::vector<std::uint64_t> most_;
};

}  // namespace ebb::replay
