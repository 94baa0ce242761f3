// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "fact/death.h"
#include "run/launch.h"
#include "sense/kernel_log.h"
#include "sense/kill_counts.h"

namespace ebb::run {

/// A signal that reached the supervisor, and who sent it.
struct SentSignal {
  int number = 0;
  bool by_terminal = false;
  std::optional<pid_t> sender;  ///< nothing where it lives in another pid namespace
  std::string sender_name;
  std::optional<std::uint32_t> sender_user;
};

/// The limits that the command itself ran under when it ended; nothing is none.
struct LimitsAtEnd {
  std::optional<std::uint64_t> address_space;
  std::optional<double> cpu_soft, cpu_hard;  ///< seconds
};

/// What is known when a command has ended.
struct DeathClues {
  Ending ending;
  double seconds = 0;  ///< since the run began
  pid_t command = 0;
  bool stopped = false;       ///< the supervisor had told it to end, for lack of memory
  bool killed_by_us = false;  ///< and killed it, since it went on
  sense::KillCounts before, after;
  std::optional<sense::OomReport> report;  ///< the kernel's own, of a process of the job
  bool report_has_own_pids = true;         ///< its number means the same here
  LimitsAtEnd limits;
  std::optional<double> cpu_seconds;           ///< of the command alone
  std::optional<std::uint64_t> address_space;  ///< the most that was seen
  std::optional<SentSignal> sent;  ///< the last that would have ended it as it has ended
};

/// Who or what ended the job. Nothing where it ended by itself, be it by a fault of its own, or
/// where no evidence says otherwise.
std::optional<fact::Death> cause_of_death(const DeathClues& clues);

}  // namespace ebb::run
