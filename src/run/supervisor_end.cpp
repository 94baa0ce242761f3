// SPDX-License-Identifier: Apache-2.0
// The end of the job: whom the kernel killed, how the command ended and why.
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "run/supervisor.h"

namespace ebb::run {

void Supervisor::watch_kills(double seconds) {
  const std::uint64_t kills = place_.kills();
  if (kills <= kills_) return;
  kills_ = kills;
  journal_.say({seconds,
                name_of(record::EventKind::oom_kill),
                "the kernel killed a process because memory ran out",
                {}});
}

PlainWait Supervisor::left_to_wait_for() const {
  PlainWait wait{command_, ending_, options_.wait_for_all, {}};
  if (stopped_at_) wait.kills_after = std::max(0.0, *stopped_at_ + options_.grace_seconds - now());
  return wait;
}

void Supervisor::look_at_dead_command() {
  if (ending_ || command_ == 0) return;
  siginfo_t about{};
  const int kinds = WEXITED | WNOHANG | WNOWAIT;
  if (::waitid(P_PID, static_cast<id_t>(command_), &about, kinds) == 0 && about.si_pid == command_)
    deaths_.ended();
}

std::size_t Supervisor::left_in_the_end() {
  // What ends with its program, as Python's resource trackers do, takes a moment to see that.
  constexpr int kLooks = 25;
  constexpr std::chrono::milliseconds kPause{10};
  for (int look = 1;; ++look) {
    reap();
    scan(now());
    const auto left = std::count_if(members_.begin(), members_.end(), [](const auto& member) {
      return sense::read_process(member.first).has_value();
    });
    if (left == 0 || look == kLooks) return static_cast<std::size_t>(left);
    std::this_thread::sleep_for(kPause);
  }
}

void Supervisor::judge_ending(double seconds) {
  watch_kills(seconds);
  if (stopped_at_) deaths_.stopped(killed_);
  summary_.death = deaths_.cause(*ending_, seconds);
  summary_.how = ending_->signal ? fact::RunEnd::signal : fact::RunEnd::exit;
  if (stopped_at_) summary_.how = fact::RunEnd::stopped;
  if (ending_->signal == SIGKILL && summary_.death && summary_.death->is_out_of_memory())
    summary_.how = fact::RunEnd::out_of_memory;
}

}  // namespace ebb::run
