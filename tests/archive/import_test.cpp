// SPDX-License-Identifier: Apache-2.0
#include "archive/import.h"

#include <gtest/gtest.h>

#include "fl/recorded.h"
#include "record/store.h"
#include "support/temporary_directory.h"

namespace ebb::archive {
namespace {

class ImportTest : public testing::Test {
 protected:
  /// A simulation of four rounds that came to `rounds` of them, as it lies in its folder.
  void leave(const std::string& name, std::uint64_t seed, std::uint32_t rounds) {
    fl::Config config;
    config.rounds = 4;
    config.clients = 5;
    config.seed = seed;
    std::string lines;
    for (std::uint32_t i = 0; i < rounds; ++i) {
      fl::RoundReport round;
      round.round = i;
      round.wall_seconds = 2;
      round.other_seconds = 2;
      if (i != 1) round.memory.now.rss = 1000 + i;  // of the second nobody knows it
      lines += fl::to_json(round).text() + "\n";
    }
    folder_.write(name + "/config.json", fl::to_json(config).text());
    folder_.write(name + "/rounds.jsonl", lines);
  }

  base::Result<std::vector<Imported>> import(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names)
      paths.push_back(folder_ / name);
    return import_simulations(record_, paths);
  }

  support::TemporaryDirectory folder_;
  const std::string record_ = folder_ / "runs.db";
};

TEST_F(ImportTest, ASimulationBecomesARunThatIsFinishedOnlyIfItWas) {
  leave("whole", 1, 4);
  leave("stopped", 2, 3);
  const auto all = import({"whole", "stopped"});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(to_json(*all).text(), R"({"imported":[1,2],"known":[]})");
  auto store = record::Store::open(record_);
  ASSERT_TRUE(store);
  const auto whole = store->read(1);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->summary.run.name, all->front().result.config.method + ", seed 1");
  EXPECT_EQ(whole->summary.run.role, "simulator");
  EXPECT_EQ(whole->summary.run.exit_code, 0);
  EXPECT_EQ(whole->rounds.size(), 4U);
  ASSERT_EQ(whole->processes.size(), 1U);
  ASSERT_EQ(whole->processes[0].readings.size(), 3U) << "none where nothing was read";
  const auto stopped = store->read(2);
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(stopped->summary.run.exit_code);
  const auto simulation = store->simulation(2);
  ASSERT_TRUE(simulation);
  EXPECT_EQ(simulation->rounds.size(), 3U);
  EXPECT_TRUE(simulation->simulation.sweep.starts_with("folder:/"));
}

TEST_F(ImportTest, WhatIsThereIsKnownByItsConfigurationAndItsLastRound) {
  leave("first", 7, 3);
  ASSERT_TRUE(import({"first"}));
  leave("moved", 7, 3);
  leave("further", 7, 4);
  leave("other", 8, 3);
  const auto all = import({"moved", "further", "other"});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(to_json(*all).text(), R"({"imported":[2,3],"known":[1]})");
  EXPECT_TRUE(all->front().was_there);
}

TEST_F(ImportTest, NothingIsTakenInWhereOneCannotBeRead) {
  leave("right", 1, 4);
  folder_.write("wrong/config.json", "{}");
  folder_.write("wrong/rounds.jsonl", "{\"round\":0}\n");
  const auto all = import({"right", "wrong"});
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find("wrong: round 1"), std::string::npos) << all.error().message;
  EXPECT_FALSE(record::Store::open(record_)) << "not even begun";
}

}  // namespace
}  // namespace ebb::archive
