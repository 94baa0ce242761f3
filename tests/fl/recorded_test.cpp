// SPDX-License-Identifier: Apache-2.0
#include "fl/recorded.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "fl/sweep.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

RoundReport round_numbered(std::uint32_t number) {
  RoundReport round;
  round.round = number;
  round.scores = Scores{0.25 * number, 1, {0.1, 0.2, 0.3}};
  round.took_part = {number};
  round.wall_seconds = 4;
  round.training_seconds = 1;
  round.sums_seconds = 0.5;
  round.cleanup_seconds = 0.25;
  round.writing_seconds = 0.125;
  round.other_seconds = 2.125;
  round.memory.now.rss = 1000;
  round.memory.peak = 2000 + number;
  return round;
}

SimulationResult three_rounds() {
  SimulationResult result;
  result.config.rounds = 3;
  result.config.clients = 5;
  result.config.method = "heuristic.random";
  result.untrained = Scores{0.1, 2.3, {0.4, 0.5, 0.6}};
  for (std::uint32_t i = 0; i < 3; ++i)
    result.rounds.push_back(round_numbered(i));
  return result;
}

std::vector<std::string> lines_of(const SimulationResult& result) {
  std::vector<std::string> lines;
  for (const RoundReport& round : result.rounds)
    lines.push_back(to_json(round).text());
  return lines;
}

std::string trouble_with(const base::Json& beginning, const std::vector<std::string>& rounds) {
  const auto read = simulation_from(beginning, rounds);
  return read ? "none" : read.error().message;
}

TEST(RecordedSimulation, IsReadAsItWas) {
  const SimulationResult written = three_rounds();
  const auto read = simulation_from(beginning_json(written), lines_of(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(read->config).text(), to_json(written.config).text());
  EXPECT_DOUBLE_EQ(read->untrained->accuracy, 0.1);
  EXPECT_DOUBLE_EQ(read->untrained->macro.f1, 0.6);
  EXPECT_EQ(lines_of(*read), lines_of(written));
  EXPECT_EQ(read->peak_rss, 2002U);
  EXPECT_FALSE(read->stopped);
}

TEST(RecordedSimulation, OfAnEarlierEbbDoesNotSayWhereAllOfTheTimeWent) {
  const std::set<std::string> later = {"sums_seconds", "cleanup_seconds", "writing_seconds",
                                       "other_seconds"};
  const base::Json whole = to_json(round_numbered(0));
  base::Json earlier;
  for (const auto& [key, value] : *whole.as_object())
    if (!later.contains(key)) earlier.set(key, value);
  const auto read = round_report_from(earlier);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->wall_seconds, 4);
  EXPECT_EQ(read->training_seconds, 1);
  EXPECT_EQ(read->sums_seconds + read->cleanup_seconds, 0);
  EXPECT_EQ(read->writing_seconds + read->other_seconds, 0);
}

TEST(RecordedSimulation, HasStoppedWhereTheLastRoundIsMissing) {
  SimulationResult written = three_rounds();
  written.untrained.reset();
  written.rounds.pop_back();
  const auto read = simulation_from(beginning_json(written), lines_of(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->stopped);
  EXPECT_FALSE(read->untrained);
  EXPECT_TRUE(simulation_from(beginning_json(written), {})->stopped);
}

TEST(RecordedSimulation, WhatIsNoneIsRefused) {
  const SimulationResult right = three_rounds();
  const base::Json beginning = beginning_json(right);
  const std::vector<std::string> lines = lines_of(right);
  EXPECT_EQ(trouble_with(base::Json::object({}), lines),
            "expected a configuration and what the model could do");
  SimulationResult many = right;
  many.config.clients = 4'000'000'000;
  EXPECT_EQ(trouble_with(beginning_json(many), lines),
            "clients: 4000000000, expected at most 10000000");
  EXPECT_NE(trouble_with(beginning, {lines[0], "{"}).find("round 2: "), std::string::npos);
  EXPECT_NE(trouble_with(beginning, {"{}"}).find("with all its keys"), std::string::npos);
  EXPECT_EQ(trouble_with(beginning, {lines[1], lines[0]}),
            "round 2: numbered 0, expected a later one below 3");
  EXPECT_EQ(trouble_with(beginning, {to_json(round_numbered(3)).text()}),
            "round 1: numbered 3, expected a later one below 3");
}

class KeptSimulations : public testing::Test {
 protected:
  void write(const std::string& below, const SimulationResult& result,
             const std::string& cut = "") {
    const std::string path = (folder_ / below);
    std::filesystem::create_directories(path);
    ASSERT_TRUE(base::write_file_atomically(path + "/config.json", to_json(result.config).text()));
    std::string text;
    for (const std::string& line : lines_of(result))
      text += line + "\n";
    ASSERT_TRUE(base::write_file_atomically(path + "/rounds.jsonl", text + cut));
  }

  std::string trouble() const {
    const auto found = simulations_in(folder_ / ".");
    return found ? "none" : found.error().message;
  }

  support::TemporaryDirectory folder_;
};

TEST_F(KeptSimulations, OneIsItsFolder) {
  write(".", three_rounds(), R"({"round":3,"cut)");
  const auto found = simulations_in(folder_ / ".");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().rounds, lines_of(three_rounds())) << "without what a kill cut off";
  EXPECT_TRUE(found->front().beginning.find("untrained")->is_null());
  EXPECT_GT(found->front().began, 1'700'000'000);
  EXPECT_GE(found->front().ended, found->front().began);
}

TEST_F(KeptSimulations, AComparisonHasThoseThatHaveBegun) {
  Sweep sweep;
  sweep.config = three_rounds().config;
  sweep.methods = {"heuristic.random", "system_aware.oort"};
  sweep.parameters.resize(2);
  sweep.seeds = {1, 2};
  folder_.write(kComparisonFile, to_json(sweep).text());
  for (const char* name : {"heuristic.random-seed2", "heuristic.random-seed1",
                           "system_aware.oort-seed1", "heuristic.random-seed3"})
    write(name, three_rounds());
  const auto found = simulations_in(folder_ / ".");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 3U);
  EXPECT_TRUE((*found)[0].folder.ends_with("heuristic.random-seed1"));
  EXPECT_TRUE((*found)[2].folder.ends_with("system_aware.oort-seed1"));
}

TEST_F(KeptSimulations, WhatIsNoneIsRefused) {
  EXPECT_NE(trouble().find("no simulation, expected config.json or comparison.json in it"),
            std::string::npos);
  write(".", three_rounds(), "no round\n");
  EXPECT_NE(trouble().find("round 4: "), std::string::npos);
  folder_.write(kComparisonFile, R"({"methods":["../../etc"],"seeds":[1]})");
  EXPECT_NE(trouble().find("'../../etc' is no method"), std::string::npos);
}

}  // namespace
}  // namespace ebb::fl
