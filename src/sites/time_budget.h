// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb::sites {

/// How far apart the samples of a process have to be for sampling to take no more than 0.5 % of its
/// time. Thread-safe, and without a lock.
class TimeBudget {
 public:
  constexpr TimeBudget() = default;

  void begin(std::uint64_t now_ns);

  /// After a sample that took so long, and now and then without one (0): widens the distance,
  /// 512 KiB << `shift`, where the time is used up, and narrows it as far as less than 0.1 % would
  /// be used with it.
  void keep(std::uint64_t now_ns, std::uint64_t spent_ns, std::atomic<std::uint64_t>& shift);

 private:
  std::atomic<std::uint64_t> since_ns_{0};
  std::atomic<std::uint64_t> spent_ns_{0};
};

}  // namespace ebb::sites
