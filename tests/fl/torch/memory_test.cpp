// SPDX-License-Identifier: Apache-2.0
// What a simulation holds does not grow with what goes through it.
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/bytes.h"
#include "fl/torch/workbench.h"
#include "support/effort.h"
#include "support/own_process.h"

namespace ebb::fl {
namespace {

/// Has clients begin to train two at a time: on a busy machine one thread could train all of them,
/// with the buffers of one.
class TrainsTwoAtATime final : public Trainer {
 public:
  explicit TrainsTwoAtATime(std::unique_ptr<Trainer> trainer) : trainer_(std::move(trainer)) {}

  base::Result<LocalResult> train(std::uint32_t slot, std::span<const float> global,
                                  const LocalTask& task, std::span<float> weights) override {
    meet();
    return trainer_->train(slot, global, task, weights);
  }

  std::uint64_t parameters() const override { return trainer_->parameters(); }
  const std::string& backend() const override { return trainer_->backend(); }
  void initialise(std::uint64_t seed, std::span<float> weights) override {
    trainer_->initialise(seed, weights);
  }
  base::Result<Evaluation> evaluate(std::uint32_t slot, std::span<const float> weights,
                                    const Split& split,
                                    std::span<const std::uint32_t> samples) override {
    return trainer_->evaluate(slot, weights, split, samples);
  }
  base::Status train_together(std::span<const float> global, std::span<const LocalTask> tasks,
                              const Trained& trained, Corrections* corrections) override {
    return trainer_->train_together(global, tasks, trained, corrections);
  }
  void release(std::uint32_t first) override { trainer_->release(first); }

 private:
  void meet() {
    std::unique_lock lock(mutex_);
    const std::uint64_t pair = came_++ / 2;
    changed_.notify_all();
    // Only a machine without memory for two of them lets this one wait in vain.
    changed_.wait_for(lock, std::chrono::minutes(2), [&] { return came_ >= 2 * pair + 2; });
  }

  std::unique_ptr<Trainer> trainer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t came_ = 0;
};

class Memory : public Workbench {
 protected:
  /// The highest rss of a run, above what was there before it.
  std::uint64_t growth_of(const Config& config) {
    cleaner_.clean({.deep = true});
    const std::uint64_t before = *sense::read_rss_fast();
    EXPECT_TRUE(support::reset_peak_rss());
    run_two_at_a_time(config);
    const std::uint64_t peak = *sense::read_process()->hwm;
    return peak - std::min(peak, before);
  }

  SimulationResult run_two_at_a_time(const Config& config) {
    const Execution execution = on_threads(2);
    auto resources = load_resources(config, execution, cleaner_, alone());
    EXPECT_TRUE(resources) << resources.error().message;
    if (!resources) return {};
    resources->trainer = std::make_unique<TrainsTwoAtATime>(std::move(resources->trainer));
    Observer nobody;
    auto result = simulate(config, execution, *resources, nobody);
    EXPECT_TRUE(result) << result.error().message;
    return result ? std::move(*result) : SimulationResult{};
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
  config_.per_round = static_cast<std::uint32_t>(support::trials(8, 64));
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
  const SimulationResult result = run_two_at_a_time(config_);
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
