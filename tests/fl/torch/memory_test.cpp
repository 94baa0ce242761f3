// SPDX-License-Identifier: Apache-2.0
// What a simulation holds does not grow with what goes through it.
#include "base/bytes.h"
#include "fl/torch/workbench.h"
#include "support/effort.h"
#include "support/own_process.h"

namespace ebb::fl {
namespace {

class Memory : public Workbench {
 protected:
  /// The highest rss of a run, above what was there before it.
  std::uint64_t growth_of(const Config& config) {
    cleaner_.clean({.deep = true});
    const std::uint64_t before = *sense::read_rss_fast();
    EXPECT_TRUE(support::reset_peak_rss());
    run(config, on_threads(2));
    const std::uint64_t peak = *sense::read_process()->hwm;
    return peak - std::min(peak, before);
  }
};

TEST_F(Memory, OfAggregationIsThatOfOneAccumulatorForAnyCohort) {
  if (!support::is_alone()) return;
  config_.model = "resnet18";
  config_.synthetic.picture = {3, 8, 8};
  config_.synthetic.train = 64;
  config_.synthetic.test = 4;
  config_.clients = 64;
  config_.rounds = 1;
  config_.partition.kind = PartitionKind::iid;
  constexpr std::uint64_t kModel = 11173962 * sizeof(float);
  config_.per_round = 2;
  growth_of(config_);  // what the library keeps from its first time does not count
  const std::uint64_t two = growth_of(config_);
  config_.per_round = static_cast<std::uint32_t>(support::trials(16, 64));
  const std::uint64_t many = growth_of(config_);
  const std::uint64_t more = config_.per_round - 2;
  std::printf("ResNet18: 2 clients %s, %llu more %s\n", base::bytes_text(two).c_str(),
              static_cast<unsigned long long>(more), base::bytes_text(many).c_str());
  EXPECT_LT(many, two + 2 * kModel) << more << " more updates are " << more * kModel << " bytes";
}

TEST_F(Memory, StaysFlatOverRounds) {
  if (!support::is_alone()) return;
  config_.rounds = 60;
  config_.eval_every = 10;
  const SimulationResult result = run(config_, on_threads(2));
  std::uint64_t early = 0;
  std::uint64_t late = 0;
  for (std::size_t i = 10; i < 20; ++i)
    early = std::max(early, result.rounds[i].memory.now.rss.value_or(0));
  for (std::size_t i = 50; i < 60; ++i)
    late = std::max(late, result.rounds[i].memory.now.rss.value_or(0));
  EXPECT_LT(late, early + (4U << 20));
}

}  // namespace
}  // namespace ebb::fl
