// SPDX-License-Identifier: Apache-2.0
#include "fl/world.h"

#include <cmath>

namespace ebb::fl {
namespace {

constexpr Workload kWorkload = {3e6, 87360};

World world_of(const WorldOptions& options, std::uint32_t clients = 300,
               const Workload& workload = kWorkload, std::uint64_t seed = 5,
               std::uint64_t visited = 600) {
  auto world = World::create(options, workload, std::vector<std::uint64_t>(clients, visited), seed);
  EXPECT_TRUE(world) << world.error().message;
  return std::move(*world);
}

std::vector<double> seconds_of(const World& world, std::uint32_t clients) {
  std::vector<double> seconds;
  for (std::uint32_t client = 0; client < clients; ++client)
    seconds.push_back(world.condition(client).seconds);
  return seconds;
}

TEST(World, TimeIsArithmeticAtTheClientsSpeedAndTheModelOverItsChannel) {
  for (const std::uint64_t visited : {600U, 3000U}) {
    const World world = world_of({}, 20, {3e6, 500000}, 5, visited);
    for (std::uint32_t client = 0; client < 20; ++client) {
      const Condition now = world.condition(client);
      EXPECT_NEAR(
          now.seconds,
          static_cast<double>(visited) * 3e6 / (1e9 * now.speed) + 2 * 500000 / (1e6 * now.channel),
          1e-9);
      EXPECT_GT(now.energy, 0);
    }
  }
}

TEST(World, EnergyIsTheDevicesPowerForSoLong) {
  const World once = world_of({}, 20);
  const World twice = world_of({}, 20, {6e6, 2 * 87360});
  for (std::uint32_t client = 0; client < 20; ++client) {
    const Condition one = once.condition(client);
    const Condition two = twice.condition(client);
    EXPECT_NEAR(two.seconds, 2 * one.seconds, 1e-9);
    EXPECT_NEAR(two.energy, 2 * one.energy, 1e-9);
    const double watts = one.energy / one.seconds;
    EXPECT_GT(watts, 2 * std::exp(-0.3 * 5));
    EXPECT_LT(watts, 2 * std::exp(0.3 * 5));
  }
}

TEST(World, SpeedsAreLognormalAroundTheMedianClient) {
  const World world = world_of({}, 3001);
  std::vector<double> logs;
  double squares = 0;
  for (std::uint32_t client = 0; client < 3001; ++client) {
    logs.push_back(std::log(world.condition(client).speed));
    squares += logs.back() * logs.back();
    EXPECT_GE(world.condition(client).speed, 0.1);
    EXPECT_LE(world.condition(client).speed, 10);
  }
  std::nth_element(logs.begin(), logs.begin() + 1500, logs.end());
  EXPECT_NEAR(logs[1500], 0, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 3001), 0.5, 0.03);
}

TEST(World, TiersAreTheThirdsBySpeed) {
  const World world = world_of({}, 300);
  std::vector<std::vector<double>> speeds(3);
  for (std::uint32_t client = 0; client < 300; ++client)
    speeds.at(world.condition(client).tier).push_back(world.condition(client).speed);
  for (const auto& tier : speeds)
    EXPECT_EQ(tier.size(), 100U);
  for (std::size_t tier = 0; tier < 2; ++tier)
    EXPECT_LE(*std::max_element(speeds[tier].begin(), speeds[tier].end()),
              *std::min_element(speeds[tier + 1].begin(), speeds[tier + 1].end()));
}

TEST(World, ChannelsWalkWithinTheirBounds) {
  World world = world_of({}, 50);
  std::vector<double> before(50);
  double lowest = 2;
  double highest = 0;
  double moved = 0;
  for (std::uint32_t round = 0; round < 2000; ++round) {
    world.move_to(round);
    for (std::uint32_t client = 0; client < 50; ++client) {
      const double channel = world.condition(client).channel;
      if (round > 0) {
        ASSERT_LE(std::abs(channel - before[client]), 0.05 + 1e-12);
        moved += std::abs(channel - before[client]);
      } else {
        ASSERT_GE(channel, 0.5);
        ASSERT_LE(channel, 1.5);
      }
      before[client] = channel;
      lowest = std::min(lowest, channel);
      highest = std::max(highest, channel);
    }
  }
  EXPECT_NEAR(moved / (50 * 1999), 0.025, 0.001);
  EXPECT_GE(lowest, 0.25);
  EXPECT_LE(highest, 1.75);
  EXPECT_LT(lowest, 0.3);
  EXPECT_GT(highest, 1.7);
}

TEST(World, IsTheSameFromWhereverOneComes) {
  const WorldOptions options{0.2, 3.0, 2};
  World there = world_of(options, 40);
  there.move_to(90);
  const std::vector<double> at_90 = seconds_of(there, 40);
  World stepwise = world_of(options, 40);
  for (std::uint32_t round = 0; round <= 90; round += 3)
    stepwise.move_to(round);
  EXPECT_EQ(seconds_of(stepwise, 40), at_90);
  World back = world_of(options, 40);
  back.move_to(200);
  back.move_to(90);
  EXPECT_EQ(seconds_of(back, 40), at_90);
  for (std::uint32_t client = 0; client < 40; ++client) {
    EXPECT_EQ(back.fate(client).arrives, there.fate(client).arrives);
    EXPECT_EQ(back.fate(client).late, there.fate(client).late);
  }
  EXPECT_NE(seconds_of(world_of(options, 40, kWorkload, 6), 40),
            seconds_of(world_of(options, 40, kWorkload, 5), 40));
}

TEST(World, MoreClientsDoNotChangeTheOnesThereWere) {
  World few = world_of({}, 10);
  World many = world_of({}, 100);
  few.move_to(7);
  many.move_to(7);
  for (std::uint32_t client = 0; client < 10; ++client)
    EXPECT_EQ(few.condition(client).seconds, many.condition(client).seconds);
}

TEST(World, ClientsDropOutAsOftenAsAskedFor) {
  World world = world_of({0.3, std::nullopt, 0}, 100);
  int lost = 0;
  for (std::uint32_t round = 0; round < 100; ++round) {
    world.move_to(round);
    for (std::uint32_t client = 0; client < 100; ++client)
      lost += world.fate(client).arrives ? 0 : 1;
  }
  EXPECT_NEAR(lost / 10000.0, 0.3, 0.02);
  World reliable = world_of({}, 100);
  for (std::uint32_t client = 0; client < 100; ++client)
    EXPECT_TRUE(reliable.fate(client).arrives);
}

TEST(World, AnUpdateIsLateByTheDeadlinesItMissesAndLostBeyondTheWindow) {
  const double deadline = 1;
  const World world = world_of({0, deadline, 2}, 300);
  std::vector<int> seen(4);
  for (std::uint32_t client = 0; client < 300; ++client) {
    const double seconds = world.condition(client).seconds;
    const Fate fate = world.fate(client);
    if (seconds <= deadline) {
      EXPECT_TRUE(fate.arrives && fate.late == 0);
      ++seen[0];
    } else if (seconds <= 2 * deadline) {
      EXPECT_TRUE(fate.arrives && fate.late == 1);
      ++seen[1];
    } else if (seconds <= 3 * deadline) {
      EXPECT_TRUE(fate.arrives && fate.late == 2);
      ++seen[2];
    } else {
      EXPECT_FALSE(fate.arrives);
      ++seen[3];
    }
  }
  for (const int count : seen)
    EXPECT_GT(count, 0);
}

TEST(World, WithoutAWindowALateUpdateIsLost) {
  const World world = world_of({0, 1.0, 0}, 300);
  for (std::uint32_t client = 0; client < 300; ++client) {
    EXPECT_EQ(world.fate(client).arrives, world.condition(client).seconds <= 1);
    EXPECT_EQ(world.fate(client).late, 0U);
  }
}

TEST(World, ARoundLastsAsLongAsItsSlowestClientThatAnswers) {
  const std::vector<std::uint32_t> cohort = {3, 8, 11, 40};
  const World patient = world_of({}, 50);
  const std::vector<double> seconds = seconds_of(patient, 50);
  EXPECT_EQ(patient.round_seconds(cohort),
            std::max({seconds[3], seconds[8], seconds[11], seconds[40]}));
  EXPECT_EQ(patient.round_seconds({}), 0);
  const World strict = world_of({0, 0.001, 0}, 50);
  EXPECT_EQ(strict.round_seconds(cohort), 0.001);
  EXPECT_EQ(strict.round_seconds({}), 0.001);
  World lossy = world_of({0.5, std::nullopt, 0}, 50);
  for (std::uint32_t round = 0; round < 20; ++round) {
    lossy.move_to(round);
    double slowest = 0;
    for (const std::uint32_t client : cohort)
      if (lossy.fate(client).arrives) slowest = std::max(slowest, lossy.condition(client).seconds);
    EXPECT_EQ(lossy.round_seconds(cohort), slowest);
  }
}

TEST(World, AModelThatTakesTooLongToTheAggregatorIsLost) {
  WorldOptions options;
  options.round_timeout = 0.08;
  const World patient = world_of({});
  const World world = world_of(options);
  int lost = 0;
  for (std::uint32_t client = 0; client < 300; ++client) {
    const double transfer = 87360 / (1e6 * world.condition(client).channel);
    const bool arrives = transfer <= 0.08;
    EXPECT_EQ(world.fate(client).arrives, arrives) << client;
    lost += arrives ? 0 : 1;
    EXPECT_NEAR(world.condition(client).seconds,
                patient.condition(client).seconds - std::max(0.0, transfer - 0.08), 1e-9)
        << "nobody waits for it";
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 300);
}

TEST(World, OptionsOutOfTheirRangeAreRefused) {
  EXPECT_TRUE(check(WorldOptions{}));
  EXPECT_FALSE(check(WorldOptions{1, std::nullopt, 0}));
  EXPECT_FALSE(check(WorldOptions{-0.1, std::nullopt, 0}));
  EXPECT_FALSE(check(WorldOptions{std::nan(""), std::nullopt, 0}));
  EXPECT_FALSE(check(WorldOptions{0, 0.0, 0}));
  EXPECT_EQ(check(WorldOptions{0, std::nullopt, 2}).error().message,
            "staleness 2 without a deadline, expected one as well");
  EXPECT_FALSE(World::create({}, {-1, 1}, std::vector<std::uint64_t>{1}, 1));
}

}  // namespace
}  // namespace ebb::fl
