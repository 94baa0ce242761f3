// SPDX-License-Identifier: Apache-2.0
#include "fl/metrics.h"

#include <cmath>

namespace ebb::fl {
namespace {

Evaluation evaluation_of(std::vector<std::uint64_t> confusion, double loss_sum = 0) {
  Evaluation evaluation(static_cast<std::uint32_t>(std::lround(std::sqrt(confusion.size()))));
  for (const std::uint64_t count : confusion)
    evaluation.samples += count;
  evaluation.confusion = std::move(confusion);
  evaluation.loss_sum = loss_sum;
  return evaluation;
}

TEST(Metrics, PartsOfASetAddUp) {
  Evaluation one = evaluation_of({3, 1, 0, 2}, 1.5);
  one.add(evaluation_of({0, 2, 1, 1}, 2.5));
  EXPECT_EQ(one.confusion, (std::vector<std::uint64_t>{3, 3, 1, 3}));
  EXPECT_EQ(one.samples, 10U);
  EXPECT_DOUBLE_EQ(one.accuracy(), 0.6);
  EXPECT_DOUBLE_EQ(one.loss(), 0.4);
}

TEST(Metrics, OfNothingAreZero) {
  const Evaluation nothing(3);
  EXPECT_EQ(nothing.accuracy(), 0);
  EXPECT_EQ(nothing.loss(), 0);
  EXPECT_EQ(macro_scores(nothing).f1, 0);
}

TEST(Metrics, MacroScoresAreMeansOverTheClasses) {
  // By hand. Precision: 5/7, 4/7, 3/4. Recall: 5/8, 4/5, 3/5. F1: 2/3, 2/3, 2/3.
  const MacroScores scores = macro_scores(evaluation_of({5, 2, 1,  //
                                                         1, 4, 0,  //
                                                         1, 1, 3}));
  EXPECT_NEAR(scores.precision, (5.0 / 7 + 4.0 / 7 + 3.0 / 4) / 3, 1e-12);
  EXPECT_NEAR(scores.recall, (5.0 / 8 + 4.0 / 5 + 3.0 / 5) / 3, 1e-12);
  EXPECT_NEAR(scores.f1, 2.0 / 3, 1e-12);
}

TEST(Metrics, AbsentClassesCountAsZero) {
  // Class 1 never occurs but is predicted; class 2 occurs but is never predicted; class 3 neither.
  const MacroScores scores = macro_scores(evaluation_of({4, 2, 0, 0,  //
                                                         0, 0, 0, 0,  //
                                                         1, 1, 0, 0,  //
                                                         0, 0, 0, 0}));
  EXPECT_NEAR(scores.precision, (4.0 / 5) / 4, 1e-12);
  EXPECT_NEAR(scores.recall, (4.0 / 6) / 4, 1e-12);
  EXPECT_NEAR(scores.f1, (2 * 4.0 / 11) / 4, 1e-12);
}

TEST(Metrics, EvenParticipationHasNoGiniAndFullEntropy) {
  const Participation even = participation_of(std::vector<std::uint32_t>{3, 3, 3, 3});
  EXPECT_NEAR(even.gini, 0, 1e-12);
  EXPECT_NEAR(even.entropy, 1, 1e-12);
  EXPECT_NEAR(even.variance, 0, 1e-12);
}

TEST(Metrics, ParticipationIsAsByHand) {
  const std::vector<std::uint32_t> counts = {0, 4, 1, 3};
  const Participation uneven = participation_of(counts);
  double pairs = 0;
  for (const double one : counts)
    for (const double other : counts)
      pairs += std::abs(one - other);
  EXPECT_NEAR(uneven.gini, pairs / (2 * 4 * 8), 1e-12);
  const double entropy = -(0.5 * std::log(0.5) + 0.125 * std::log(0.125) + 0.375 * std::log(0.375));
  EXPECT_NEAR(uneven.entropy, entropy / std::log(4), 1e-12);
  EXPECT_NEAR(uneven.variance, (4 + 4 + 1 + 1) / 4.0, 1e-12);
}

TEST(Metrics, OneWhoTakesAllIsTheMostUneven) {
  const Participation all = participation_of(std::vector<std::uint32_t>{0, 0, 0, 0, 10});
  EXPECT_NEAR(all.gini, 0.8, 1e-12);
  EXPECT_NEAR(all.entropy, 0, 1e-12);
}

TEST(Metrics, BeforeTheFirstRoundAllAreAlike) {
  for (const std::vector<std::uint32_t>& counts : {std::vector<std::uint32_t>{}, {0, 0}, {7}}) {
    const Participation none = participation_of(counts);
    EXPECT_NEAR(none.gini, 0, 1e-12);
    EXPECT_EQ(none.entropy, 1);
    EXPECT_EQ(none.variance, 0);
  }
}

}  // namespace
}  // namespace ebb::fl
