// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cache/core.h"
#include "cache/truth_log.h"
#include "device/sim_driver.h"

namespace ebb::cache::truth {

/// Does what a log says, on a simulated device that gives out the recorded addresses, and fails the
/// current test at the first operation that goes otherwise than recorded.
class Replay final : public CompletionSource {
 public:
  explicit Replay(const Log& log);

  /// Stops at the first difference.
  void run();
  /// Compares what is left at the end with the log.
  void expect_same_stats();
  void expect_same_trace();
  void expect_same_segments();
  void expect_same_events();
  void expect_same_message();
  /// The pickled snapshot, read by Python, is the one in the recorded file.
  void expect_same_pickle(const std::string& path);

  Core& core() { return *core_; }

  std::optional<Address> next_completed(bool waiting) override;

 private:
  void perform(const Operation& op);
  void expect_same_counters(const Operation& op);

  const Log& log_;
  device::SimDriver driver_;
  std::unique_ptr<Core> core_;
  const Operation* current_ = nullptr;
  std::size_t completed_ = 0;
  std::vector<PoolId> scopes_;
  std::vector<std::int64_t> expected_;  ///< of log_.keys
  std::vector<std::size_t> places_;     ///< of log_.keys among stats_keys
};

}  // namespace ebb::cache::truth
