// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "show/simulate/outcome_page.h"
#include "show/simulate/outcome_view.h"

namespace ebb::show {
namespace {

fl::SimulationResult result(const char* method, double accuracy) {
  fl::SimulationResult result;
  result.config.method = method;
  fl::RoundReport round;
  round.scores = fl::Scores{};
  round.scores->accuracy = accuracy;
  result.rounds.push_back(round);
  return result;
}

SimulateOutcome comparison() {
  SimulateOutcome outcome;
  outcome.compare = true;
  outcome.seeds = {42};
  outcome.methods = {{"worse", {result("worse", 0.5)}}, {"better", {result("better", 0.75)}}};
  return outcome;
}

TEST(SimulateView, TheBestMethodIsTheFirstRow) {
  const std::string text = outcome_text(comparison(), {});
  EXPECT_LT(text.find("better"), text.find("worse"));
  EXPECT_NE(text.find("0.7500"), std::string::npos);
}

TEST(SimulateView, AComparisonIsRankedAndASimulationIsNot) {
  SimulateOutcome outcome = comparison();
  EXPECT_NE(outcome_json(outcome).find("ranking"), nullptr);
  EXPECT_TRUE(page_of_simulations(outcome).verdict);
  outcome.compare = false;
  outcome.methods.resize(1);
  EXPECT_EQ(outcome_json(outcome).find("ranking"), nullptr);
  EXPECT_FALSE(page_of_simulations(outcome).verdict);
  EXPECT_EQ(page_of_simulations(outcome).title, "Simulation: worse");
}

TEST(SimulateView, ThePrivacyThatIsSpentIsShownOrWhyItIsNot) {
  SimulateOutcome outcome = comparison();
  EXPECT_EQ(outcome_text(outcome, {}).find("privacy"), std::string::npos);
  for (fl::MethodRuns& runs : outcome.methods) {
    fl::Config& config = runs.repeats.front().config;
    config.privacy.clip = 1;
    config.privacy.noise = 2;
    config.method = runs.method == "better" ? "heuristic.random" : "system_aware.oort";
  }
  const std::string text = outcome_text(outcome, {});
  EXPECT_NE(text.find("better: epsilon "), std::string::npos) << text;
  EXPECT_NE(text.find("at delta 1e-05 after round 1, for one client replaced\n"), std::string::npos)
      << text;
  const std::string unknown =
      "worse: epsilon is not known: system_aware.oort chooses clients by what it knows of them";
  EXPECT_NE(text.find(unknown), std::string::npos) << text;
  EXPECT_NE(page_of_simulations(outcome).tables.back().note.find(unknown), std::string::npos);
}

TEST(SimulateView, WhatTheModelIsToClientsIsShownWhereTheyWereEvaluated) {
  SimulateOutcome outcome = comparison();
  EXPECT_EQ(outcome_text(outcome, {}).find("worst tenth"), std::string::npos);
  EXPECT_EQ(page_of_simulations(outcome).tables.back().title, "Results");
  outcome.methods.front().repeats.front().rounds.front().client_scores =
      fl::ClientScores{{0.625, 0.125, 0.375}, {1.5, 0.25, 2.5}};
  const std::string text = outcome_text(outcome, {});
  EXPECT_NE(
      text.find("clients' accuracy  spread  worst tenth    loss  spread  worst tenth\n"
                "worse              0.6250  0.1250       0.3750  1.5000  0.2500       2.5000\n"),
      std::string::npos)
      << text;
  const page::Document page = page_of_simulations(outcome);
  EXPECT_EQ(page.tables.back().title, "Clients");
  ASSERT_EQ(page.tables.back().rows.size(), 1U);
  EXPECT_EQ(page.tables.back().rows[0][4].text(), "0.375");
  const auto plot = std::find_if(page.plots.begin(), page.plots.end(), [](const page::Plot& one) {
    return one.title == "Accuracy for clients";
  });
  ASSERT_NE(plot, page.plots.end());
  ASSERT_EQ(plot->lines.size(), 2U);
  EXPECT_EQ(plot->lines[1].name, "worse, worst tenth");
  EXPECT_EQ(plot->lines[1].y, std::vector<double>{0.375});
}

TEST(SimulateView, AStoppedOneSaysHowToGoOnEvenQuietly) {
  SimulateOutcome outcome;
  outcome.stopped = true;
  EXPECT_EQ(where_lines(outcome, true),
            std::vector<std::string>{"stopped; without a folder it cannot be resumed"});
  outcome.folder = "ebb-runs/x";
  outcome.runs = {7};
  EXPECT_EQ(
      where_lines(outcome, false),
      (std::vector<std::string>{"stopped; ebb simulate --resume ebb-runs/x goes on",
                                "files in ebb-runs/x", "run 7 in the record (ebb report 7)"}));
  outcome.db = "my runs.db";
  EXPECT_EQ(where_lines(outcome, false).back(),
            "run 7 in the record (ebb report 7 --db 'my runs.db')");
}

}  // namespace
}  // namespace ebb::show
