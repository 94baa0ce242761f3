// SPDX-License-Identifier: Apache-2.0
#include "run/watch_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/clock.h"

namespace ebb::run {
namespace {

/// Waits until `until_ns`, or for a reason to end.
std::optional<WatchEnding> wait_until(std::int64_t until_ns, int signals, int process, int& keys) {
  while (true) {
    const std::int64_t left = until_ns - base::system_clock().now_ns();
    pollfd sources[] = {{signals, POLLIN, 0}, {process, POLLIN, 0}, {keys, POLLIN, 0}};
    const auto milliseconds = std::clamp<std::int64_t>((left + 999'999) / 1'000'000, 0, 1 << 30);
    const int ready = ::poll(sources, 3, static_cast<int>(milliseconds));
    if (ready < 0 && errno != EINTR) return WatchEnding::left;
    if (ready == 0 && base::system_clock().now_ns() >= until_ns) return std::nullopt;
    if (ready <= 0) continue;
    if (sources[0].revents != 0) return WatchEnding::left;
    if (sources[1].revents != 0) return WatchEnding::process_ended;
    char key = 0;
    if (sources[2].revents != 0) {
      if (::read(keys, &key, 1) != 1) keys = -1;
      if (key == 'q' || key == 'Q') return WatchEnding::left;
    }
  }
}

}  // namespace

LeaveSignals::LeaveSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, &before_);
  descriptor_ = base::FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

LeaveSignals::~LeaveSignals() {
  // Taken out before they are let through again: leaving was what they asked for.
  signalfd_siginfo taken{};
  while (::read(descriptor_.get(), &taken, sizeof taken) == sizeof taken) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

const char* name_of(WatchEnding ending) {
  switch (ending) {
    case WatchEnding::time_is_up:
      return "time_is_up";
    case WatchEnding::left:
      return "left";
    case WatchEnding::process_ended:
      return "process_ended";
  }
  return "";
}

base::Result<WatchEnding> watch_process(
    keep::ProcessWatch& watch, const WatchPlan& plan, const LeaveSignals& signals,
    const std::function<bool(const keep::WatchSample&)>& on_sample) {
  int keys = plan.keys ? STDIN_FILENO : -1;
  const auto interval_ns = static_cast<std::int64_t>(plan.interval_seconds * 1e9);
  const std::int64_t begin_ns = base::system_clock().now_ns();
  const auto end_ns = begin_ns + static_cast<std::int64_t>(plan.length_seconds * 1e9);
  std::int64_t next_ns = begin_ns;
  while (true) {
    const auto sample = watch.sample();
    if (!sample) {
      const bool ended = sample.error().code == base::Code::not_found && watch.samples() > 0;
      if (ended) return WatchEnding::process_ended;
      return sample.error();
    }
    if (!on_sample(*sample)) return WatchEnding::left;
    // After a stall the missed samples are not made up for: they would all show one moment.
    next_ns = std::max(next_ns + interval_ns, base::system_clock().now_ns());
    const bool last = plan.length_seconds > 0 && next_ns > end_ns;
    if (const auto ending = wait_until(last ? end_ns : next_ns, signals.descriptor(),
                                       watch.end_descriptor(), keys)) {
      return *ending;
    }
    if (last) return WatchEnding::time_is_up;
  }
}

}  // namespace ebb::run
