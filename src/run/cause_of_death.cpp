// SPDX-License-Identifier: Apache-2.0
#include "run/cause_of_death.h"

#include <signal.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::run {
namespace {

using base::bytes_text;
using base::format_text;
using fact::Death;
using fact::Killer;

// An allocation that fails leaves the address space below its limit, by its own size.
constexpr double kNearLimit = 0.9;
// The kernel counts whole ticks of a processor against the limit, where several processes may have
// had a part in one. The time that it tells afterwards is measured, and on a busy machine a good
// deal less. As a rule nobody but the kernel sends SIGXCPU; many send SIGKILL.
constexpr double kShareForXcpu = 0.5;
constexpr double kShareForKill = 0.7;
constexpr double kShareBeyondDoubt = 0.9;

std::uint64_t rise(const std::optional<std::uint64_t>& before,
                   const std::optional<std::uint64_t>& after) {
  if (!after) return 0;
  const std::uint64_t first = before.value_or(0);
  return *after > first ? *after - first : 0;
}

/// Counts of two readings, level by level.
class Rise {
 public:
  explicit Rise(const DeathClues& clues) : before_(clues.before), after_(clues.after) {}

  std::size_t levels() const { return std::min(before_.levels.size(), after_.levels.size()); }
  /// How far above the process's own group that level is.
  std::size_t above_own(std::size_t i) const { return i + after_.unaccounted; }
  const sense::LevelKills& level(std::size_t i) const { return after_.levels[i]; }

  std::uint64_t of(std::size_t i, std::optional<std::uint64_t> sense::LevelKills::*count) const {
    return rise(before_.levels[i].*count, after_.levels[i].*count);
  }
  bool group_counts() const {
    return levels() > 0 && (before_.levels[0].killed || after_.levels[0].killed);
  }
  std::uint64_t of_machine() const { return rise(before_.machine, after_.machine); }

  /// Processes of the job's own group that the kernel killed for memory; where the group does not
  /// count, those of the machine. A group that was removed has counted, and nobody knows what.
  std::uint64_t killed() const {
    if (group_counts()) return of(0, &sense::LevelKills::killed);
    return of_machine();
  }

 private:
  const sense::KillCounts& before_;
  const sense::KillCounts& after_;
};

bool is_killed(const DeathClues& clues) {
  return clues.ending.signal == SIGKILL;
}

/// Where a process of the job ended and took the command with it, by way of its exit status.
bool is_failure(const DeathClues& clues) {
  return clues.ending.exit_code.value_or(0) != 0;
}

void tell_full(Death& death, const Rise& rises, std::size_t level) {
  death.by = Killer::cgroup;
  death.group = rises.level(level).group;
  death.level = rises.above_own(level);
  death.limit = rises.level(level).limit;
}

/// Which group was full, by the counts alone.
void find_full_group(const DeathClues& clues, const Rise& rises, Death& death) {
  // v2 counts it where it happened. v1 counts how often the limit was reached, which alone is
  // harmless: the lowest group whose kill cannot be helped by dropping cache comes first.
  for (const auto count : {&sense::LevelKills::full, &sense::LevelKills::reached}) {
    for (std::size_t i = 0; i < rises.levels(); ++i) {
      if (rises.of(i, count) == 0 || !rises.level(i).limit) continue;
      tell_full(death, rises, i);
      death.findings.push_back(
          format_text("the group reached its limit %llu times in this run",
                      static_cast<unsigned long long>(
                          std::max(rises.of(i, count), rises.of(i, &sense::LevelKills::reached)))));
      return;
    }
    // Where full is counted, and by none of them, no group that can be seen was.
    if (rises.levels() > 0 && rises.level(0).full) break;
  }
  if (clues.after.ancestors_hidden) {
    death.by = Killer::cgroup;
    death.findings.emplace_back(
        "no group that can be seen from here was full: it was one above them, or the machine");
  } else {
    death.by = Killer::machine;
    if (rises.levels() > 0) death.findings.emplace_back("none of its control groups was full");
  }
}

void take_report(const DeathClues& clues, const Rise& rises, Death& death) {
  const sense::OomReport& report = *clues.report;
  death.by = report.of_machine ? Killer::machine : Killer::cgroup;
  death.limit = report.of_machine ? std::nullopt : report.limit;
  death.reached = report.of_machine ? std::nullopt : report.usage;
  death.process = report.task;
  if (clues.report_has_own_pids) death.pid = report.pid;
  if (!report.of_machine) {
    // The kernel writes the path from the root of all groups; here it may begin further down.
    for (std::size_t i = 0; i < rises.levels(); ++i) {
      const std::string& group = rises.level(i).group;
      if (report.full_group != group && (group == "/" || !report.full_group.ends_with(group)))
        continue;
      death.group = group;
      death.level = rises.above_own(i);
      break;
    }
    if (death.group.empty()) death.group = report.full_group;
  }
  std::string line =
      "the kernel's log has it: process " + std::to_string(report.pid) + " (" + report.task + ")";
  if (death.reached && death.limit)
    line += ", at " + bytes_text(*death.reached) + " of " + bytes_text(*death.limit);
  death.findings.push_back(line);
}

bool by_kernel_for_memory(const DeathClues& clues, Death& death) {
  const Rise rises(clues);
  if (!is_killed(clues) && !is_failure(clues)) return false;
  if (rises.killed() == 0 && !clues.report) return false;
  // Others may live in the group: a status that names no kill needs the kernel's own word for it.
  if (!is_killed(clues) && !clues.report && clues.ending.exit_code != 128 + SIGKILL) return false;
  death.of_command = is_killed(clues);
  if (clues.report) {
    take_report(clues, rises, death);
  } else {
    find_full_group(clues, rises, death);
  }
  if (rises.killed() > 0) {
    death.findings.push_back(format_text("%s counts %llu process%s killed for memory in this run",
                                         rises.group_counts() ? "its control group" : "the machine",
                                         static_cast<unsigned long long>(rises.killed()),
                                         rises.killed() == 1 ? "" : "es"));
  }
  return true;
}

bool by_oomd(const DeathClues& clues, Death& death) {
  const Rise rises(clues);
  if (!is_killed(clues)) return false;
  for (std::size_t i = 0; i < rises.levels(); ++i) {
    // The daemon counts the processes only after it has killed them.
    const std::uint64_t killed = rises.of(i, &sense::LevelKills::oomd_killed);
    const std::uint64_t kills = rises.of(i, &sense::LevelKills::oomd_kills);
    if (killed == 0 && kills == 0) continue;
    tell_full(death, rises, i);
    death.by = Killer::systemd_oomd;
    death.findings.push_back(
        format_text("the group's attribute %s rose by %llu in this run",
                    killed > 0 ? "user.oomd_kill" : "user.oomd_ooms",
                    static_cast<unsigned long long>(killed > 0 ? killed : kills)));
    return true;
  }
  return false;
}

bool at_cpu_limit(const DeathClues& clues, Death& death) {
  if (!clues.cpu_seconds) return false;
  const bool is_soft = clues.ending.signal == SIGXCPU;
  if (!is_soft && !is_killed(clues)) return false;
  std::optional<double> limit = is_soft ? clues.limits.cpu_soft : clues.limits.cpu_hard;
  // With each SIGXCPU the kernel moves the soft limit on by a second.
  if (is_soft && limit) limit = *limit - 1;
  if (!limit || *clues.cpu_seconds < (is_soft ? kShareForXcpu : kShareForKill) * *limit)
    return false;
  death.by = Killer::rlimit_cpu;
  death.limit_seconds = limit;
  death.used_seconds = clues.cpu_seconds;
  if (*clues.cpu_seconds < kShareBeyondDoubt * *limit) {
    death.findings.emplace_back(
        "probably: it had less time than that, but the kernel counts whole ticks against the "
        "limit");
  }
  return true;
}

bool by_sender(const DeathClues& clues, Death& death) {
  if (!clues.sent) return false;
  const SentSignal& sent = *clues.sent;
  // A shell, and programs that clean up first, end with a status that names the signal.
  const bool is_same =
      clues.ending.signal == sent.number || clues.ending.exit_code == 128 + sent.number;
  if (!is_same) return false;
  death.by = sent.by_terminal ? Killer::terminal : Killer::sender;
  death.signal = sent.number;
  if (sent.by_terminal) return true;
  death.sender = sent.sender;
  death.sender_name = sent.sender_name;
  death.sender_user = sent.sender_user;
  death.findings.emplace_back("it was sent to ebb, which passed it on to the command");
  return true;
}

bool at_address_limit(const DeathClues& clues, Death& death) {
  // A C++ program aborts, C crashes or gives up, Python ends with status 1.
  const bool can_be = is_failure(clues) || clues.ending.signal == SIGABRT ||
                      clues.ending.signal == SIGSEGV || clues.ending.signal == SIGBUS;
  if (!can_be || !clues.limits.address_space || !clues.address_space) return false;
  const std::uint64_t limit = *clues.limits.address_space;
  if (static_cast<double>(*clues.address_space) < kNearLimit * static_cast<double>(limit))
    return false;
  death.by = Killer::rlimit_as;
  death.limit = limit;
  death.reached = clues.address_space;
  death.findings.push_back(
      format_text("its address space was seen at %.0f %% of the limit, and it ended %s",
                  100.0 * static_cast<double>(*clues.address_space) / static_cast<double>(limit),
                  clues.ending.signal ? "by a signal of its own" : "with a status other than 0"));
  return true;
}

/// Whether a program sends it to itself, or the kernel to a program that did something wrong.
bool is_own_fault(int signal) {
  for (const int own :
       {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ})
    if (signal == own) return true;
  return false;
}

}  // namespace

std::optional<Death> cause_of_death(const DeathClues& clues) {
  Death death;
  death.seconds = clues.seconds;
  death.signal = clues.ending.signal;
  death.pid = clues.command;
  death.by = clues.stopped ? Killer::ebb : Killer::unknown;
  // The kernel may have been faster.
  if (clues.stopped && (clues.killed_by_us || !is_killed(clues))) return death;
  if (by_oomd(clues, death) || by_kernel_for_memory(clues, death) || at_cpu_limit(clues, death) ||
      by_sender(clues, death) || at_address_limit(clues, death))
    return death;
  if (clues.stopped) return death;
  if (!clues.ending.signal || is_own_fault(*clues.ending.signal)) return std::nullopt;
  return death;
}

}  // namespace ebb::run
