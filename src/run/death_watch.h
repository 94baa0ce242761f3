// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "run/cause_of_death.h"
#include "run/signals.h"
#include "sense/cgroup_place.h"
#include "sense/kernel_log.h"

namespace ebb::run {

/// Gathers what tells who ended a job: what the kernel counted before and after, its log, the
/// limits of the command, signals that came meanwhile. Not thread-safe.
class DeathWatch {
 public:
  /// When the job has begun. `group`: where its memory is accounted, if anywhere.
  void begin(pid_t command, const std::optional<sense::CgroupPlace>& group);

  /// The job has moved to another group.
  void moved(const sense::CgroupPlace& group);

  /// A process of the job.
  void saw_process(pid_t pid);

  /// A signal that reached this process.
  void arrived(const Signal& signal);

  /// What was seen of the command's address space.
  void saw_address_space(const std::optional<std::uint64_t>& most);

  /// Once the command has ended, and as long as nobody has taken note of it: what only a process
  /// that was not reaped tells.
  void ended();

  /// The supervisor told the job to end, and killed it if need be.
  void stopped(bool killed);

  /// When the run is over.
  std::optional<fact::Death> cause(const Ending& ending, double seconds);

 private:
  bool is_of_job(const sense::OomReport& report) const;

  std::optional<sense::CgroupPlace> group_;
  sense::KernelLog log_;
  DeathClues clues_;
  std::vector<SentSignal> sent_;  // the last of each number
  std::set<pid_t> processes_;     // of the job, as many as are kept
};

}  // namespace ebb::run
