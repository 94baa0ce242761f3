// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fact/diagnosis.h"
#include "replay/doctor/held_over_time.h"

namespace ebb::replay {

/// Bytes by which something grows from one step of the job to the next.
struct StepGrowth {
  double per_step = 0;
  /// With 95 %; nothing where the steps are too few to bound it.
  std::optional<std::pair<double, double>> range;
  double share = 0;  ///< of the growth of all that is live, 0 to 1
  fact::Confidence confidence = fact::Confidence::medium;
  bool by_kept = false;  ///< told by what its steps leave behind; else by what is live between them
};

/// What of a job grows from step to step: the same signs as for a leak of the whole job (leak.h),
/// for a part of it. What it is made of outlives it.
class PlaceGrowth {
 public:
  explicit PlaceGrowth(const HeldOverTime& held);

  /// A row of HeldOverTime: of what grows steadily, by much of all that is live.
  std::optional<StepGrowth> of(const std::vector<std::uint64_t>& over_time,
                               const Amounts& kept) const;

  /// By how much a part of something that grows does so, told by the same; 0 where it does not.
  double part_of(bool by_kept, const std::vector<std::uint64_t>& over_time,
                 const Amounts& kept) const;

 private:
  struct Series {
    Amounts amounts;          ///< over the number of the step, with `stride` between them
    std::uint64_t bytes = 0;  ///< by which they grow
    std::size_t strides = 1;
  };

  Amounts live_of(const std::vector<std::uint64_t>& over_time) const;
  Amounts left_of(const Amounts& kept) const;
  Series kept_series(const Amounts& kept) const;
  Series live_series(const std::vector<std::uint64_t>& over_time) const;
  double pace_of(const Series& series) const;
  StepGrowth growth_of(const Series& series) const;

  const HeldOverTime::Steps& steps_;
  std::uint64_t all_ = 0;  ///< that is live once the job has settled
  double pace_ = 0;        ///< bytes a step, of all that is live
};

}  // namespace ebb::replay
