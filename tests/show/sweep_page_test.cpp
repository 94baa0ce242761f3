// SPDX-License-Identifier: Apache-2.0
#include "show/simulate/sweep_page.h"

#include <gtest/gtest.h>

#include "fl/recorded.h"

namespace ebb::show {
namespace {

/// A simulation of four rounds that came to `rounds` of them; its accuracy rises to `accuracy`.
record::RecordedSimulation simulated(std::int64_t run, const char* method, std::uint64_t seed,
                                     double accuracy, std::uint32_t rounds = 4,
                                     std::uint32_t stride = 1) {
  fl::SimulationResult so_far;
  so_far.config.method = method;
  so_far.config.seed = seed;
  so_far.config.rounds = 4;
  so_far.config.clients = 3;
  record::RecordedSimulation recorded;
  recorded.summary.run.id = run;
  recorded.simulation = {"sweep", 0, 6, fl::beginning_json(so_far).text()};
  for (std::uint32_t i = 0; i < rounds; i += stride) {
    fl::RoundReport round;
    round.round = i;
    round.scores = fl::Scores{accuracy * (i + 1) / 4, 1, {}};
    round.took_part = {i % 3};
    round.simulated_seconds = 10.0 * (i + 1);
    round.wall_seconds = 1;
    round.training_seconds = 0.75;
    round.memory.now.rss = 1 << 20;
    round.memory.peak = 2 << 20;
    recorded.rounds.push_back({i, fl::to_json(round).text()});
  }
  return recorded;
}

page::Document page_of(const std::vector<record::RecordedSimulation>& simulations) {
  std::vector<std::shared_ptr<const SimulatedRun>> read;
  for (const record::RecordedSimulation& one : simulations)
    read.push_back(read_simulation(one));
  return page_of_sweep(read);
}

const page::Plot* plot_of(const page::Document& page, const std::string& title) {
  for (const page::Plot& plot : page.plots)
    if (plot.title == title) return &plot;
  return nullptr;
}

const page::Table* table_of(const page::Document& page, const std::string& title) {
  for (const page::Table& table : page.tables)
    if (table.title == title) return &table;
  return nullptr;
}

TEST(SweepPage, SeedsAreRepeatsOfTheirMethod) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5), simulated(2, "a", 2, 0.6),
                                       simulated(3, "b", 1, 0.8), simulated(4, "b", 2, 0.9)});
  const page::Plot* accuracy = plot_of(page, "Accuracy");
  ASSERT_NE(accuracy, nullptr);
  ASSERT_EQ(accuracy->lines.size(), 2U);
  EXPECT_EQ(accuracy->lines[0].name, "a");
  EXPECT_DOUBLE_EQ(accuracy->lines[0].y.back(), 0.55);
  EXPECT_EQ(accuracy->lines[0].band_low.size(), 4U);
  const page::Plot* by_time = plot_of(page, "Accuracy over simulated time");
  ASSERT_NE(by_time, nullptr);
  EXPECT_EQ(by_time->lines[1].x, (std::vector<double>{10, 20, 30, 40}));
  ASSERT_TRUE(page.verdict);
  EXPECT_EQ(page.verdict->headline, "b: final accuracy 0.8500");
  EXPECT_EQ(page.verdict->name, "best");
  ASSERT_EQ(page.heat_maps.size(), 1U);
  EXPECT_EQ(page.heat_maps[0].rows[1].values, (std::vector<double>{2, 1, 1}));
  EXPECT_EQ(table_of(page, "Results")->rows.size(), 4U);
  EXPECT_EQ(table_of(page, "Results")->rows[2][0].find("path")->text(), "\"3\"");
}

TEST(SweepPage, ThePartsOfARoundAddUpToIt) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5)});
  ASSERT_EQ(page.bars.size(), 1U);
  const std::vector<page::Part>& parts = page.bars[0].bars.at(0).parts;
  double sum = 0;
  for (const auto& part : parts)
    sum += part.value;
  EXPECT_DOUBLE_EQ(sum, 1);
  EXPECT_EQ(parts.front().name, "training");
  EXPECT_DOUBLE_EQ(parts.front().value, 0.75);
  EXPECT_EQ(parts.back().name, "other") << "what a record of before does not name";
  EXPECT_DOUBLE_EQ(parts.back().value, 0.25);
}

TEST(SweepPage, OneThatGoesOnIsDrawnAndNotRanked) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5), simulated(2, "b", 1, 0.9, 2)});
  EXPECT_EQ(plot_of(page, "Accuracy")->lines[1].x.size(), 2U);
  EXPECT_EQ(table_of(page, "Ranking")->rows.size(), 1U);
  EXPECT_EQ(page.verdict->name, "best so far");
  EXPECT_EQ(page.facts.back().value, "1 of 6");
  const page::Document begun = page_of({simulated(1, "a", 1, 0.5, 0)});
  EXPECT_FALSE(begun.verdict);
  EXPECT_EQ(begun.facts.front().value, "not known yet");
}

TEST(SweepPage, MethodsAreRankedOverTheSeedsThatAllHave) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5), simulated(2, "a", 2, 0.9),
                                       simulated(3, "b", 1, 0.6), simulated(4, "b", 2, 0.9, 1)});
  EXPECT_EQ(page.verdict->headline, "b: final accuracy 0.6000");
}

TEST(SweepPage, OneSeedIsNotSure) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5), simulated(2, "b", 1, 0.9)});
  EXPECT_EQ(page.verdict->confidence, "low");
  EXPECT_NE(page.verdict->evidence.back().find("one seed is too few"), std::string::npos);
}

TEST(SweepPage, OfTwoTheOneThatCameFurtherCounts) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5, 2), simulated(7, "a", 1, 0.5)});
  ASSERT_EQ(table_of(page, "Results")->rows.size(), 1U);
  EXPECT_EQ(table_of(page, "Results")->rows[0][0].find("path")->text(), "\"7\"");
}

TEST(SweepPage, OtherSettingsAreAnotherLine) {
  record::RecordedSimulation other = simulated(5, "a", 1, 0.7);
  auto about = *base::parse_json(other.simulation.about);
  base::Json config = *about.find("config");
  config.set("lr", 0.5);
  about.set("config", config);
  other.simulation.about = about.text();
  const page::Document page = page_of({simulated(1, "a", 1, 0.5), other});
  EXPECT_EQ(plot_of(page, "Accuracy")->lines[0].name, "a (run 1)");
  EXPECT_EQ(plot_of(page, "Accuracy")->lines[1].name, "a (run 5)");
}

TEST(SweepPage, WhereRoundsAreMissingNobodyIsCounted) {
  const page::Document page = page_of({simulated(1, "a", 1, 0.5, 4, 3)});
  EXPECT_TRUE(page.heat_maps.empty());
  EXPECT_EQ(plot_of(page, "Participation"), nullptr);
  EXPECT_EQ(plot_of(page, "Accuracy")->lines[0].x, (std::vector<double>{1, 4}));
}

TEST(SweepPage, OfVeryManyClientsNoneIsDrawn) {
  record::RecordedSimulation many = simulated(1, "a", 1, 0.5);
  auto about = *base::parse_json(many.simulation.about);
  base::Json config = *about.find("config");
  config.set("clients", std::uint64_t{1'000'000});
  about.set("config", config);
  many.simulation.about = about.text();
  EXPECT_TRUE(page_of({many}).heat_maps.empty());
}

TEST(SweepPage, WhatCannotBeReadIsLeftOut) {
  record::RecordedSimulation broken = simulated(2, "b", 1, 0.5);
  broken.rounds[1].json = "{";
  EXPECT_EQ(table_of(page_of({simulated(1, "a", 1, 0.5), broken}), "Results")->rows.size(), 1U);
  EXPECT_EQ(page_of({broken}).subtitle, "None of them can be read by this Ebb");
}

}  // namespace
}  // namespace ebb::show
