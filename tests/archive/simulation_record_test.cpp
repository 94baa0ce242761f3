// SPDX-License-Identifier: Apache-2.0
#include "archive/simulation_record.h"

#include <gtest/gtest.h>

#include "record/store.h"
#include "support/temporary_directory.h"

namespace ebb::archive {
namespace {

fl::SweepPart second_of_two() {
  fl::SweepPart part;
  part.config.method = "heuristic.random";
  part.name = "heuristic.random, seed 43";
  part.limit = 1 << 30;
  part.sweep = "here:/runs/7";
  part.part = 1;
  part.parts = 2;
  return part;
}

fl::RoundReport round_numbered(std::uint32_t number) {
  fl::RoundReport round;
  round.round = number;
  round.memory.now.rss = 1000;
  return round;
}

TEST(SimulationRecord, HoldsThePlaceInTheSweepAndTheRoundsFromBefore) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  fl::SimulationResult so_far;
  so_far.config = second_of_two().config;
  so_far.rounds = {round_numbered(0), round_numbered(1)};
  std::int64_t id = 0;
  {
    const auto record = record_simulation(path, second_of_two(), so_far);
    id = record->run_id();
    record->add(round_numbered(2));
    record->mark("a marker");
    record->end(0);
  }
  ASSERT_GT(id, 0);
  auto store = record::Store::open(path);
  ASSERT_TRUE(store);
  const auto simulation = store->simulation(id);
  ASSERT_TRUE(simulation) << simulation.error().message;
  EXPECT_EQ(simulation->simulation.sweep, "here:/runs/7");
  EXPECT_EQ(simulation->simulation.part, 1U);
  EXPECT_EQ(simulation->simulation.parts, 2U);
  ASSERT_EQ(simulation->rounds.size(), 3U);
  EXPECT_EQ(simulation->rounds[2].json, fl::to_json(round_numbered(2)).text());
  const record::Run& run = simulation->summary.run;
  EXPECT_EQ(run.name, "heuristic.random, seed 43");
  EXPECT_EQ(run.command.front(), "ebb");
  EXPECT_EQ(run.limit, std::uint64_t{1} << 30);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(simulation->summary.rounds, 1U) << "of this process: the others were in one before";
}

TEST(SimulationRecord, WithoutAPathRecordsNothing) {
  const auto record = record_simulation("", second_of_two(), {});
  record->add(round_numbered(0));
  record->end(0);
  EXPECT_EQ(record->run_id(), 0);
}

}  // namespace
}  // namespace ebb::archive
