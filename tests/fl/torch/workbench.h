// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fl/simulation.h"
#include "heap/host_allocator.h"
#include "sense/process.h"

namespace ebb::fl {

/// Small simulations on synthetic data, with all that they need. GoogleTest's, one per test.
class Workbench : public testing::Test {
 protected:
  Workbench() {
    config_.dataset = "synthetic";
    config_.synthetic.picture = {1, 16, 16};
    config_.synthetic.train = 600;
    config_.synthetic.test = 200;
    config_.clients = 12;
    config_.per_round = 4;
    config_.rounds = 3;
    config_.batch = 16;
    config_.backend = "native";
    config_.partition.kind = PartitionKind::dirichlet;
  }

  SimulationResult run(const Config& config, const Execution& execution, Observer& observer) {
    auto resources = load_resources(config, execution, cleaner_, alone());
    EXPECT_TRUE(resources) << resources.error().message;
    auto result = simulate(config, execution, *resources, observer);
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : SimulationResult{};
  }
  SimulationResult run(const Config& config, const Execution& execution) {
    Observer nobody;
    return run(config, execution, nobody);
  }
  /// The error that it comes to.
  std::string failure_of(const Config& config, const Execution& execution) {
    auto resources = load_resources(config, execution, cleaner_, alone());
    if (!resources) return resources.error().message;
    Observer nobody;
    const auto result = simulate(config, execution, *resources, nobody);
    EXPECT_FALSE(result);
    return result ? "" : result.error().message;
  }

  static Execution on_threads(std::uint32_t count) {
    Execution execution;
    execution.parallel_clients = count;
    return execution;
  }

  base::ReclaimerRegistry reclaimers_;
  keep::Cleaner cleaner_{heap::host_allocator(), reclaimers_,
                         [] { return sense::read_rss_fast().value_or(0); }};
  Config config_;
};

/// Stops after so many rounds.
class StopsAfter final : public Observer {
 public:
  explicit StopsAfter(std::uint32_t rounds) : left_(rounds) {}

  void round_done(const RoundReport&) override { --left_; }
  bool should_stop() override { return left_ == 0; }

 private:
  std::uint32_t left_;
};

}  // namespace ebb::fl
