// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sense/cgroup_place.h"

namespace ebb::run {

/// The job's peak as the kernel counted it, where its control group is its own: where it holds this
/// process and what it started, and nobody else, both when the job begins and when it has ended.
/// The peak is then that of the group, file cache, kernel memory and this process included. Not
/// thread-safe.
class GroupPeak {
 public:
  /// Once the job has begun.
  void begin(const sense::CgroupPlace& group);

  /// When it has ended. Nothing where the group is not the job's own, the kernel keeps no peak, or
  /// the group was as full once before the job.
  std::optional<std::uint64_t> end() const;

 private:
  bool is_own() const;

  sense::CgroupPlace group_;
  std::optional<std::uint64_t> before_;
};

}  // namespace ebb::run
