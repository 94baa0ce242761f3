// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"

namespace ebb::fl {

/// Works through lists on several threads, on fewer while memory is short. Which thread takes which
/// item is not defined, and nothing may depend on it. Not thread-safe itself.
class WorkerThreads {
 public:
  /// Called between items, by one thread at a time: how many threads may go on, of the `now` that
  /// work at present.
  using Allowance = std::function<std::uint32_t(std::uint32_t now)>;

  WorkerThreads(std::uint32_t most, Allowance allowance)
      : most_(most), now_(most), allowance_(std::move(allowance)) {}

  /// Calls work(slot, item) for every item below `count`; slots are below now(). After a failure no
  /// further item is started, and the failure of the lowest item is returned; an exception is one,
  /// too.
  base::Status run(std::uint32_t count,
                   const std::function<base::Status(std::uint32_t slot, std::uint32_t item)>& work);

  std::uint32_t most() const { return most_; }
  /// How many work at a time.
  std::uint32_t now() const { return now_; }
  /// One more than now, up to most().
  void grow();

 private:
  struct Job;
  void work_through(Job& job, std::uint32_t slot);

  const std::uint32_t most_;
  std::uint32_t now_;
  const Allowance allowance_;
};

}  // namespace ebb::fl
