// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// How long tasks waited for memory: percent of time over the last 10, 60 and 300
/// seconds, and microseconds in all.
struct Stall {
  double avg10 = 0;
  double avg60 = 0;
  double avg300 = 0;
  std::uint64_t total_us = 0;
};

/// Pressure stall information: `some` task stood still, or all of them (`full`).
struct PressureReading {
  Stall some;
  Stall full;
};

/// The machine's memory pressure. Code::unavailable where the kernel has none or it is off.
base::Result<PressureReading> read_pressure(const Roots& roots = {});

/// The same from a group's memory.pressure.
base::Result<PressureReading> read_pressure_file(const std::string& path);

base::Result<PressureReading> parse_pressure(std::string_view text, std::string_view file);

/// Waits in the kernel for pressure: a descriptor that polls POLLPRI when tasks stood still for
/// `stall_us` within any `window_us`, at most once per window. Movable; not thread-safe.
class PressureTrigger {
 public:
  struct Threshold {
    bool full = false;  ///< all tasks instead of some
    std::uint64_t stall_us = 150'000;
    /// Half a second to ten; without privilege a multiple of two seconds.
    std::uint64_t window_us = 2'000'000;
  };

  /// Arms a trigger on /proc/pressure/memory or a group's memory.pressure. Code::unavailable where
  /// there is no such file or pressure is off, Code::bad_input for a threshold that cannot be.
  static base::Result<PressureTrigger> arm(const std::string& path, const Threshold& threshold);
  static base::Result<PressureTrigger> arm(const std::string& path) { return arm(path, {}); }

  /// To poll for POLLPRI; POLLERR says that the group is gone. Owned by the trigger.
  int descriptor() const { return file_.get(); }

  /// Whether it went off since it was last asked; returns at once. Code::not_found when the group
  /// is gone.
  base::Result<bool> went_off() const;

 private:
  explicit PressureTrigger(base::FileDescriptor file) : file_(std::move(file)) {}

  base::FileDescriptor file_;
};

}  // namespace ebb::sense
