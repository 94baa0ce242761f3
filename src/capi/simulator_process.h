// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"

namespace ebb::capi {

/// ebb-simulate in a process of its own: started, followed line by line, stopped, reaped. There is
/// no thread behind it: lines wait in a pipe until somebody asks for them, and the simulation waits
/// once the pipe is full. One thread at a time asks; any may stop it. It belongs to the process
/// that started it: a forked child gets Code::unavailable, and ends nothing by destroying its copy.
class SimulatorProcess {
 public:
  /// Code::unavailable without the program, Code::bad_input for what is no command line.
  static base::Result<std::unique_ptr<SimulatorProcess>> start(std::string_view verb,
                                                               const base::Json& options);
  /// Ends it at once where it is still at work.
  ~SimulatorProcess();
  SimulatorProcess(const SimulatorProcess&) = delete;
  SimulatorProcess& operator=(const SimulatorProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// The next round or warning, as the line of JSON that the program printed; nothing once so many
  /// seconds have passed (fewer than 0: however long it takes) or it has ended.
  base::Result<std::optional<std::string>> next(double seconds);

  /// Whether it has ended and every line was taken.
  bool has_ended() const { return ended_ && lines_.empty(); }

  /// What --json prints; {"stopped": true} where it was stopped before it could say more. Otherwise
  /// its last line on stderr, as Code::bad_input or Code::unavailable by its exit status, or as
  /// Code::io where it failed on the way or died. Requires: has_ended().
  base::Result<base::Json> result() const EBB_EXCLUDES(mutex_);

  /// After the round under way, or at once. Done where it has ended already. Thread-safe.
  base::Status stop(bool at_once) EBB_EXCLUDES(mutex_);

 private:
  SimulatorProcess(pid_t pid, base::FileDescriptor output, base::FileDescriptor error);

  base::Status check_owner() const;
  /// Waits until there is more to read, it has ended, or this much time has passed.
  void wait_for_more(int milliseconds);
  void read_all();
  void take_lines();
  /// Whether it is gone; reaps it.
  bool reap() EBB_EXCLUDES(mutex_);
  base::Error failure(int status) const;

  const pid_t pid_;
  const pid_t owner_;
  base::FileDescriptor output_;
  base::FileDescriptor error_;
  std::atomic<bool> is_asked_ = false;  ///< a thread is in next()

  // Of the thread that asks.
  std::string unread_;  ///< the beginning of a line
  std::deque<std::string> lines_;
  std::string said_;          ///< on stderr: its end
  std::string answer_;        ///< lines that are neither round nor warning
  std::uint64_t rounds_ = 0;  ///< announced so far
  bool ended_ = false;

  mutable base::Mutex mutex_;
  bool reaped_ EBB_GUARDED_BY(mutex_) = false;
  std::optional<int> status_ EBB_GUARDED_BY(mutex_);  ///< of waitpid; nothing if others reaped it
  bool stop_asked_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::capi
