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
