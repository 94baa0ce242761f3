// SPDX-License-Identifier: Apache-2.0
#include "fl/local_work.h"

#include <cmath>

namespace ebb::fl {
namespace {

TEST(LocalWork, IsWholePassesOverTheSamples) {
  Config config;
  config.batch = 16;
  config.epochs = 3;
  const LocalWork work = local_work(config, 50);
  EXPECT_EQ(work.passes, 3U);
  EXPECT_EQ(work.steps, 12U);
  EXPECT_EQ(work.visited, 150U);
}

TEST(LocalWork, OrAsManyStepsAsAreAskedFor) {
  Config config;
  config.batch = 16;
  const auto visited = [&](std::uint64_t steps, std::size_t samples) {
    config.local_steps = steps;
    const LocalWork work = local_work(config, samples);
    EXPECT_EQ(work.steps, steps);
    // What is visited, batch by batch.
    std::uint64_t sum = 0;
    std::uint64_t left = 0;
    std::uint32_t passes = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      if (left == 0) {
        left = samples;
        ++passes;
      }
      const std::uint64_t taken = std::min<std::uint64_t>(16, left);
      sum += taken;
      left -= taken;
    }
    EXPECT_EQ(work.visited, sum) << steps << " of " << samples;
    EXPECT_EQ(work.passes, passes) << steps << " of " << samples;
    return work.visited;
  };
  EXPECT_EQ(visited(4, 50), 50U);
  EXPECT_EQ(visited(5, 50), 66U);
  EXPECT_EQ(visited(7, 50), 98U);
  for (const std::uint64_t steps : {1U, 2U, 3U, 8U, 9U, 1000U})
    for (const std::size_t samples : {1U, 15U, 16U, 17U, 48U, 600U})
      visited(steps, samples);
}

std::vector<double> rates(const Config& config, std::uint32_t rounds) {
  std::vector<double> all;
  for (std::uint32_t round = 0; round < rounds; ++round)
    all.push_back(learning_rate(config, round));
  return all;
}

void expect_near(const std::vector<double>& one, const std::vector<double>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i], other[i], 1e-12) << i;
}

Config cosine(double eta_min) {
  Config config;
  config.lr = 0.1;
  config.rounds = 8;
  config.schedule.kind = ScheduleKind::cosine;
  config.schedule.eta_min = eta_min;
  return config;
}

TEST(LearningRate, IsThatOfPyTorchsSchedules) {
  Config config;
  config.lr = 0.1;
  config.schedule.kind = ScheduleKind::step;
  config.schedule.step_size = 3;
  config.schedule.gamma = 0.5;
  // StepLR(SGD(lr=0.1), step_size=3, gamma=0.5).get_last_lr(), epoch by epoch.
  expect_near(rates(config, 8), {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025});
  // CosineAnnealingLR(SGD(lr=0.1), T_max=8, eta_min=0.01)
  expect_near(rates(cosine(0.01), 8),
              {0.1, 0.09657457896300789, 0.08681980515339463, 0.07222075445642905, 0.055,
               0.03777924554357096, 0.023180194846605363, 0.013425421036992097});
}

TEST(LearningRate, OfACosineStaysAtItsEnd) {
  Config config = cosine(0.01);
  EXPECT_EQ(learning_rate(config, 8), 0.01);
  EXPECT_EQ(learning_rate(config, 1000), 0.01);
  config.schedule.t_max = 4;
  EXPECT_NEAR(learning_rate(config, 2), 0.055, 1e-12);
  EXPECT_EQ(learning_rate(config, 4), 0.01);
}

TEST(LearningRate, RisesFirstWhileItWarmsUp) {
  Config config;
  config.lr = 0.1;
  config.schedule.warmup = 4;
  expect_near(rates(config, 6), {0.02, 0.04, 0.06, 0.08, 0.1, 0.1});
  // The schedule begins after it, and takes what is left of the rounds.
  Config after = cosine(0);
  after.schedule.warmup = 4;
  after.rounds = 12;
  const Config plain = cosine(0);
  for (std::uint32_t round = 0; round < 8; ++round)
    EXPECT_EQ(learning_rate(after, round + 4), learning_rate(plain, round)) << round;
}

}  // namespace
}  // namespace ebb::fl
