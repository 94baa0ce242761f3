// SPDX-License-Identifier: Apache-2.0
#include "run/death_watch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "run/group_memory.h"
#include "sense/process_cpu.h"

namespace ebb::run {
namespace {

// A job that starts more has numbers that are used again.
constexpr std::size_t kMostProcesses = 32'768;

/// The inode of the machine's first pid namespace (PROC_PID_INIT_INO): the kernel's log counts in
/// it.
constexpr const char* kFirstPidNamespace = "pid:[4026531836]";

bool is_in_first_pid_namespace() {
  char target[64];
  const ssize_t length = ::readlink("/proc/self/ns/pid", target, sizeof target);
  return length > 0 &&
         std::string_view(target, static_cast<std::size_t>(length)) == kFirstPidNamespace;
}

std::string name_of_process(pid_t pid) {
  const auto name = base::read_file("/proc/" + std::to_string(pid) + "/comm", 1 << 10);
  return name ? std::string(base::trimmed(*name)) : "";
}

/// `decltype`: an enumeration in glibc, a number elsewhere.
std::optional<rlimit> limit_of(pid_t pid, decltype(RLIMIT_CPU) what) {
  rlimit limit{};
  if (::prlimit(pid, what, nullptr, &limit) != 0) return std::nullopt;
  return limit;
}

std::optional<double> seconds_of(rlim_t limit) {
  if (limit == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit);
}

}  // namespace

void DeathWatch::begin(pid_t command, const std::optional<sense::CgroupPlace>& group) {
  clues_.command = command;
  group_ = group;
  log_ = sense::KernelLog::from_now();
  clues_.report_has_own_pids = is_in_first_pid_namespace();
  clues_.before = sense::read_kill_counts(group_.value_or(sense::CgroupPlace{}));
}

void DeathWatch::moved(const sense::CgroupPlace& group) {
  group_ = group;
  const auto machine = clues_.before.machine;
  clues_.before = sense::read_kill_counts(group);
  clues_.before.machine = machine;
}

void DeathWatch::saw_process(pid_t pid) {
  if (processes_.size() < kMostProcesses) processes_.insert(pid);
}

void DeathWatch::arrived(const Signal& signal) {
  const bool is_sent = signal.is_for_command && !signal.is_of_kernel;
  if (!is_sent && !signal.is_of_terminal) return;
  SentSignal sent;
  sent.number = signal.number;
  sent.by_terminal = signal.is_of_terminal;
  if (!sent.by_terminal && signal.sender > 0) {
    sent.sender = signal.sender;
    sent.sender_name = name_of_process(signal.sender);
  }
  if (!sent.by_terminal) sent.sender_user = signal.user;
  const auto known = std::find_if(sent_.begin(), sent_.end(),
                                  [&](const SentSignal& one) { return one.number == sent.number; });
  if (known == sent_.end()) {
    sent_.push_back(std::move(sent));
  } else {
    *known = std::move(sent);
  }
}

void DeathWatch::saw_address_space(const std::optional<std::uint64_t>& most) {
  if (most) clues_.address_space = std::max(clues_.address_space.value_or(0), *most);
}

void DeathWatch::ended() {
  // Whoever made the group for this command may remove it now.
  clues_.after = sense::read_kill_counts(group_.value_or(sense::CgroupPlace{}));
  if (const auto space = limit_of(clues_.command, RLIMIT_AS);
      space && space->rlim_cur != RLIM_INFINITY)
    clues_.limits.address_space = space->rlim_cur;
  if (const auto time = limit_of(clues_.command, RLIMIT_CPU)) {
    clues_.limits.cpu_soft = seconds_of(time->rlim_cur);
    clues_.limits.cpu_hard = seconds_of(time->rlim_max);
  }
  if (const auto used = sense::read_cpu_seconds(clues_.command)) clues_.cpu_seconds = *used;
}

bool DeathWatch::is_of_job(const sense::OomReport& report) const {
  if (clues_.report_has_own_pids) return processes_.count(report.pid) > 0;
  // Its numbers are others; a group of its own tells as much, where it has one.
  const std::string own = group_ ? sense::group_above(*group_, 0) : "";
  return own.size() > 1 && report.task_group.ends_with(own);
}

void DeathWatch::stopped(bool killed) {
  clues_.stopped = true;
  clues_.killed_by_us = killed;
}

std::optional<fact::Death> DeathWatch::cause(const Ending& ending, double seconds) {
  clues_.ending = ending;
  clues_.seconds = seconds;
  clues_.after =
      sense::later_of(clues_.after, sense::read_kill_counts(group_.value_or(sense::CgroupPlace{})));
  for (sense::OomReport& report : log_.take_reports()) {
    if (!is_of_job(report)) continue;
    // Of several, that of the command counts; else the last.
    const bool is_commands = clues_.report && clues_.report->pid == clues_.command;
    if (!is_commands) clues_.report = std::move(report);
  }
  for (const SentSignal& sent : sent_) {
    if (ending.signal == sent.number || ending.exit_code == 128 + sent.number) clues_.sent = sent;
  }
  auto death = cause_of_death(clues_);
  if (death && death->by == fact::Killer::cgroup && clues_.report)
    death->memory = group_memory_of(*clues_.report);
  return death;
}

}  // namespace ebb::run
