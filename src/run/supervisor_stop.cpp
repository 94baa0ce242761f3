// SPDX-License-Identifier: Apache-2.0
// The end of a job whose memory stays critical: TERM, time to end in order, KILL, until none of its
// processes is left.
#include <algorithm>

#include "run/process_signal.h"
#include "run/supervisor.h"

namespace ebb::run {
namespace {

// How long a job that is to be stopped waits for agents to connect, and to clean up.
constexpr double kAgentSeconds = 2;
constexpr double kCleaningSeconds = 5;
// Processes that are started while others are being told: no honest job starts more at a time.
constexpr int kMostRounds = 100;

bool is_alive(const Member& member) {
  const auto reading = sense::read_process(member.about.pid);
  return reading && reading->start_ticks == member.about.start;
}

}  // namespace

void Supervisor::stop_job(double seconds) {
  if (stopped_at_) return;
  // Once everybody who can clean up has done so, and it did not help. An agent needs a moment to
  // connect, and one that does not answer is not waited for.
  const double waited = seconds - *critical_since_;
  const bool awaits_cleanup = std::any_of(members_.begin(), members_.end(), [](const auto& entry) {
    return entry.second.awaits_cleanup;
  });
  const bool is_done = squeezed_since_ || preparation_.agent.empty() || waited >= kAgentSeconds;
  if ((awaits_cleanup || !is_done) && waited < kCleaningSeconds) return;
  stopped_at_ = seconds;
  journal_.say({seconds, "stop", "memory stays at " + place_.text() + ": stopping the job", {}});
  tell_all(SIGTERM, seconds);
}

void Supervisor::tell_all(int number, double seconds) {
  // Until nobody new is found: a process may have started another before it was told.
  for (int i = 0; i < kMostRounds; ++i) {
    scan(seconds);
    bool is_news = false;
    for (auto& [pid, member] : members_) {
      if (member.told == number || !is_alive(member)) continue;
      member.told = number;
      member.cannot_be_told = send_signal(member.key(), number) == Delivery::refused;
      is_news = true;
    }
    if (!is_news) return;
  }
}

void Supervisor::go_on_stopping(double seconds) {
  if (!stopped_at_) return;
  if (seconds - *stopped_at_ >= options_.grace_seconds) {
    scan(seconds);
    if (!is_anybody_left()) return;
    if (!killed_) journal_.say({seconds, "stop", "the job goes on after TERM: killing it", {}});
    killed_ = true;
    return tell_all(SIGKILL, seconds);
  }
  // What the command starts in order to end, to save its work for example, is left in peace until
  // it has ended itself.
  if (ending_) tell_all(SIGTERM, seconds);
}

bool Supervisor::is_anybody_left() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& entry) {
    return !entry.second.cannot_be_told && is_alive(entry.second);
  });
}

bool Supervisor::is_stopped_for_good() {
  const double seconds = now();
  go_on_stopping(seconds);
  reap();
  return !is_anybody_left() || seconds - *stopped_at_ >= options_.grace_seconds + kLongestDying;
}

}  // namespace ebb::run
