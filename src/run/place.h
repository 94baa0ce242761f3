// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "keep/machine_cards.h"
#include "record/model.h"
#include "run/group_peak.h"
#include "sense/cgroup_place.h"
#include "sense/gpu.h"
#include "sense/limit_alarm.h"
#include "sense/memory_info.h"
#include "sense/pressure.h"

namespace ebb::run {

/// Where the job lives: its limit, how full it is, whom the kernel killed. Not thread-safe.
class Place {
 public:
  explicit Place(const sense::MemoryThresholds& thresholds) : thresholds_(thresholds) {}

  /// Finds the group of `pid`, its pressure and the GPUs, once the process is there.
  void find(pid_t pid);

  /// Reads it as the process `pid` sees it; where that has moved to another group since, that is
  /// the job's from now on. GPUs are read at most every few seconds.
  base::Result<record::PlaceSample> read(pid_t pid, double seconds);

  /// Reads the machine's cards anew, unless the last reading is younger than `least_age` seconds.
  void read_cards(double seconds, double least_age);
  const keep::CardsSeen& cards() const { return cards_; }
  /// When they were last read; nothing before that.
  std::optional<double> cards_read() const { return gpus_read_; }

  /// Where the job's memory is accounted; nothing before find(), or where it could not be found.
  const std::optional<sense::CgroupPlace>& group() const { return group_; }

  sense::MemoryLevel level() const { return level_; }
  /// Of the limit; nothing before the first reading.
  std::optional<double> percent() const {
    return limit_ > 0 ? std::optional(percent_) : std::nullopt;
  }
  /// "87.3 % of 512.0 MiB (cgroup)".
  std::string text() const;
  std::uint64_t limit() const { return limit_; }

  /// Whether the kernel killed in the job's group between the last two readings: of the last one
  /// nobody knows whether it is of before that.
  bool saw_kill() const { return saw_kill_; }

  /// How often the job was seen to have moved.
  int moves() const { return moves_; }

  /// How often the kernel killed because memory ran out since the job began: in the job's group,
  /// or where that is not told on the machine.
  std::uint64_t kills();

  /// The job's peak, where its group is its own and the kernel keeps one; once the job has ended.
  std::optional<std::uint64_t> peak() const { return peak_.end(); }

  /// Wakes poll() when the group meets its limit.
  sense::LimitAlarm& alarm() { return alarm_; }

  /// Wakes poll() with POLLPRI when tasks stand still; -1 where the kernel tells nothing.
  int pressure_descriptor() const;
  /// The group whose pressure it was is gone.
  void forget_pressure() { pressure_.reset(); }

 private:
  void live_in(sense::CgroupPlace group);
  void follow(pid_t pid, const sense::CgroupReading& seen);
  std::optional<std::uint64_t> kill_count();

  sense::MemoryThresholds thresholds_;
  sense::MemoryLevel level_ = sense::MemoryLevel::normal;
  double percent_ = 0;
  std::uint64_t limit_ = 0;
  std::string source_;
  std::optional<sense::CgroupPlace> group_;
  GroupPeak peak_;
  sense::LimitAlarm alarm_;
  std::string own_group_;                         ///< the folder of this process's own
  std::optional<std::uint64_t> last_kill_count_;  // as the group's last reading has it
  bool saw_kill_ = false;
  int moves_ = 0;
  std::uint64_t kills_elsewhere_ = 0;  // in groups that the job has left
  std::optional<std::uint64_t> kills_before_;
  bool counts_group_ = false;                 // those are the group's own, not the machine's
  std::optional<std::uint64_t> group_kills_;  // when it was last asked
  std::optional<sense::PressureTrigger> pressure_;
  std::optional<sense::GpuMeter> gpus_;
  std::optional<double> gpus_read_;
  keep::CardsSeen cards_;
  std::optional<std::uint64_t> gpu_used_, gpu_total_;
};

}  // namespace ebb::run
