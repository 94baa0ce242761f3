// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// Time since the machine booted, suspended time included: the clock that the start times of
/// processes are told in. Shared and always valid.
const base::Clock& boot_clock();

/// CPU time of one process between readings, without sleeping. 100 is one core busy; four busy
/// threads are 400. Not thread-safe.
class ProcessCpuMeter {
 public:
  /// `clock` tells time since boot.
  explicit ProcessCpuMeter(pid_t pid = kSelf, Roots roots = {},
                           const base::Clock& clock = boot_clock());

  /// Percent since the previous reading; the first time since the process started. The kernel
  /// counts in ticks of 10 ms: a reading within a tick of the one before repeats its answer.
  /// Code::not_found when the process has ended, also if its number was given to another since.
  base::Result<double> read();

 private:
  struct Point {
    double at_seconds = 0;
    double busy_seconds = 0;
    double percent = 0;
  };

  pid_t pid_;
  Roots roots_;
  const base::Clock& clock_;
  std::optional<std::uint64_t> start_ticks_;
  Point last_;
};

/// CPU time of the whole machine between readings: 100 is all cores busy. Not thread-safe.
class MachineCpuMeter {
 public:
  explicit MachineCpuMeter(Roots roots = {}) : roots_(std::move(roots)) {}

  /// Percent since the previous reading; the first time since boot. A reading within a tick of
  /// the one before repeats its answer.
  base::Result<double> read();

 private:
  Roots roots_;
  std::uint64_t last_busy_ = 0;
  std::uint64_t last_total_ = 0;
  double last_percent_ = 0;
};

/// Ticks of all processors together, from the first line of /proc/stat.
struct MachineTicks {
  std::uint64_t busy = 0;
  std::uint64_t total = 0;
};
base::Result<MachineTicks> parse_machine_ticks(std::string_view text, std::string_view file);

}  // namespace ebb::sense
