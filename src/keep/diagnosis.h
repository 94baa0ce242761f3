// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/device_change.h"
#include "fact/diagnosis.h"
#include "fact/private_allocator.h"
#include "trend/series.h"

namespace ebb::keep {

/// What cleanups of one process came to.
struct CleanupSum {
  std::uint64_t count = 0;
  std::uint64_t returned = 0;  ///< in all
  std::uint64_t typical = 0;   ///< median of what one returned
  double cost_seconds = 0;     ///< in all
  std::vector<base::DeviceChange> devices{};
  std::uint64_t largest = 0;  ///< the most that one returned
};

/// What is known of one process over time, in bytes. Empty series are unknown; from outside a
/// process live, retained and what follows cleanups always are.
struct MemorySeries {
  std::span<const trend::Point> rss{};
  std::span<const trend::Point> anon{};   ///< with what of it was swapped out
  std::span<const trend::Point> peaks{};  ///< the highest anon, where `anon` holds only the lowest
  std::span<const trend::Point> file{};   ///< resident pages of mapped files
  std::span<const trend::Point> shmem{};  ///< resident pages of shared memory
  std::span<const trend::Point> live{};
  std::span<const trend::Point> retained{};
  std::span<const trend::Point> after_cleanup{};  ///< anon right after each cleanup
  std::span<const trend::Point> live_after{};     ///< live right after each cleanup
  std::span<const trend::Point> retained_after{};
  std::span<const trend::Point> children{};  ///< rss of all processes it started
  std::span<const double> round_ends{};      ///< seconds; none: rounds are looked for
  std::optional<std::uint64_t> room{};       ///< bytes left below the limit now
  /// Anonymous memory that malloc does not account for, and the allocators of libraries' own that
  /// may hold it.
  std::span<const trend::Point> beside{};
  std::span<const fact::PrivateAllocator> private_allocators{};
  CleanupSum cleanups{};
};

/// What a process's memory does over time: one of fact::kProcessVerdicts.
struct ProcessDiagnosis : fact::Diagnosis {
  double pace = 0;                    ///< bytes per second by which it grows, as the verdict says
  double grown = 0;                   ///< bytes, while that was so
  std::string rss_slope = "unknown";  ///< "+1.5 MiB/h (95 %: +1.4 MiB to +1.6 MiB)"
  std::optional<double> rss_growth;   ///< the same in bytes per second
  std::optional<double> seconds_until_limit;  ///< as is likely, where it grows towards one
};

/// The verdict that the series allow, and no more. Where live bytes are known they tell a leak from
/// what the allocator keeps, and retained bytes tell that from memory which is not the allocator's
/// (Python's small objects). Where they are not, what cleanups leave behind tells a leak from
/// retention, with low confidence; growth seen only from outside is called a leak, likewise.
ProcessDiagnosis diagnose(const MemorySeries& series);

}  // namespace ebb::keep
