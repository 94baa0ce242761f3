// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <functional>

#include "base/file.h"

namespace ebb::run {

/// Signals that the supervisor waits for with poll(): children that ended, and what is to be passed
/// on to the command. Blocked as long as the object lives, so that none interrupts anything, and a
/// reader of stderr that has gone is an error of write(). One per process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_.get(); }

  /// What was in force before: the command starts with it.
  const sigset_t& mask_before() const { return before_; }

  /// Takes what has arrived. `pass_on` is called for each signal that somebody sent to this
  /// process; those of the terminal the command got itself, being in the same group.
  void take(const std::function<void(int number)>& pass_on) const;

 private:
  sigset_t before_{};
  base::FileDescriptor descriptor_;
};

}  // namespace ebb::run
