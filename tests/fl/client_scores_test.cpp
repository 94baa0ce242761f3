// SPDX-License-Identifier: Apache-2.0
#include "fl/client_scores.h"

#include "fl/simulation.h"

namespace ebb::fl {
namespace {

TEST(ClientScores, AreTheMeanTheSpreadAndTheWorstTenth) {
  // Eleven clients: the worst tenth is two of them.
  const std::vector<double> values = {0.5, 0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.3, 0.9, 0.9};
  const ClientSpread accuracy = spread_of(values, Better::higher);
  EXPECT_NEAR(accuracy.mean, 8.1 / 11, 1e-12);
  double squares = 0;
  for (const double value : values)
    squares += (value - 8.1 / 11) * (value - 8.1 / 11);
  EXPECT_NEAR(accuracy.deviation, std::sqrt(squares / 11), 1e-12);
  EXPECT_NEAR(accuracy.worst_tenth, 0.2, 1e-12);
  EXPECT_NEAR(spread_of(values, Better::lower).worst_tenth, 0.9, 1e-12);
}

TEST(ClientScores, OfOneClientAreItsOwn) {
  const ClientSpread spread = spread_of(std::vector<double>{0.25}, Better::higher);
  EXPECT_EQ(spread.mean, 0.25);
  EXPECT_EQ(spread.deviation, 0);
  EXPECT_EQ(spread.worst_tenth, 0.25);
}

TEST(ClientScores, HaveTheSameBitsWhoeverIsWhichClient) {
  const ClientSpread one = spread_of(std::vector<double>{1e16, 1, -1e16, 1}, Better::higher);
  const ClientSpread other = spread_of(std::vector<double>{1, 1, 1e16, -1e16}, Better::higher);
  EXPECT_EQ(one.mean, other.mean);
  EXPECT_EQ(one.deviation, other.deviation);
}

TEST(ClientScores, GoThroughTheReportOfARound) {
  RoundReport report;
  EXPECT_TRUE(to_json(report).find("client_scores")->is_null());
  report.client_scores = ClientScores{{0.5, 0.25, 0.125}, {1, 2, 4}};
  const auto read = round_report_from(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->client_scores);
  EXPECT_EQ(read->client_scores->accuracy.worst_tenth, 0.125);
  EXPECT_EQ(read->client_scores->loss.deviation, 2);
  base::Json without = to_json(report);
  without.set("client_scores", base::Json::object({{"accuracy", 1.0}}));
  const auto refused = round_report_from(without);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "client_scores: expected mean, deviation and worst_tenth of accuracy and loss");
}

}  // namespace
}  // namespace ebb::fl
