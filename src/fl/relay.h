// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <optional>

#include "base/mutex.h"

namespace ebb::fl {

/// Hands things from one thread, which makes them, to another, which uses them one at a time and in
/// the same order. A thing is in a place from when it is begun until the next one is taken: so many
/// places as there are, so far the first thread is ahead. Each function names the thread that calls
/// it.
class Relay {
 public:
  /// `count` things in all; thing i is in place i % `places`, of which there is one at least.
  Relay(std::size_t places, std::size_t count) : places_(places), count_(count) {}

  /// Who makes: waits for a place for the next thing, and says which thing; nothing when all are
  /// made, or no more are wanted.
  std::optional<std::size_t> begin() EBB_EXCLUDES(mutex_);
  /// Who makes: the thing that was begun is there.
  void done() EBB_EXCLUDES(mutex_);
  /// Who makes: no more things come. take() throws this once those that are there were taken.
  void fail(std::exception_ptr why) EBB_EXCLUDES(mutex_);

  /// Who uses: gives the place of the thing before back, waits for the next thing, and says which
  /// it is. To be called `count` times at most.
  std::size_t take() EBB_EXCLUDES(mutex_);
  /// Who uses: no more things are wanted.
  void stop() EBB_EXCLUDES(mutex_);

 private:
  bool has_place() const EBB_REQUIRES(mutex_);

  const std::size_t places_;
  const std::size_t count_;
  base::Mutex mutex_;
  base::Condition changed_;
  std::size_t made_ EBB_GUARDED_BY(mutex_) = 0;
  std::size_t taken_ EBB_GUARDED_BY(mutex_) = 0;
  std::exception_ptr failure_ EBB_GUARDED_BY(mutex_);
  bool stopped_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::fl
