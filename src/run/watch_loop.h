// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>

#include "base/file.h"
#include "base/result.h"
#include "keep/process_watch.h"

namespace ebb::run {

/// Why watching came to its end; no failure among them.
enum class WatchEnding : std::uint8_t { time_is_up, left, process_ended };

/// "time_is_up", "left" or "process_ended".
const char* name_of(WatchEnding ending);

/// Signals that mean "leave" (SIGINT, SIGTERM, SIGHUP), as something that can be polled, until the
/// object goes. They are not taken before: once one is there, it stays to be seen.
class LeaveSignals {
 public:
  LeaveSignals();
  ~LeaveSignals();
  LeaveSignals(const LeaveSignals&) = delete;
  LeaveSignals& operator=(const LeaveSignals&) = delete;

  int descriptor() const { return descriptor_.get(); }

 private:
  sigset_t before_{};
  base::FileDescriptor descriptor_;
};

struct WatchPlan {
  double interval_seconds = 1;
  double length_seconds = 0;  ///< 0: until it is left or ends
  bool keys = false;          ///< the key q on standard input leaves
};

/// Samples until the time is up, the process ends, or somebody leaves (q, a signal, `on_sample`
/// that says false; it may wait for nothing but these signals). Fails only where the first sample
/// does, or one for another reason than the end of the process.
base::Result<WatchEnding> watch_process(
    keep::ProcessWatch& watch, const WatchPlan& plan, const LeaveSignals& signals,
    const std::function<bool(const keep::WatchSample&)>& on_sample);

}  // namespace ebb::run
