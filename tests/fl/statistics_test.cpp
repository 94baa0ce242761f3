// SPDX-License-Identifier: Apache-2.0
#include "fl/statistics.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace ebb::fl {
namespace {

TEST(Statistics, StudentsTIsAsInTheTables) {
  const std::vector<std::pair<double, double>> table = {
      {1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},   {9, 2.262},
      {10, 2.228}, {19, 2.093}, {30, 2.042}, {60, 2.000}, {120, 1.980}, {1e7, 1.960}};
  for (const auto& [degrees, t] : table)
    EXPECT_NEAR(student_95(degrees), t, 5.1e-4) << degrees;
}

TEST(Statistics, StudentsTHasItsClosedForms) {
  for (const double t : {0.0, 0.1, 1.0, 3.0, 40.0}) {
    EXPECT_NEAR(student_two_sided_p(t, 1), 1 - 2 / std::numbers::pi * std::atan(t), 1e-12) << t;
    EXPECT_NEAR(student_two_sided_p(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-12) << t;
    EXPECT_NEAR(student_two_sided_p(-t, 2), student_two_sided_p(t, 2), 1e-15) << t;
    EXPECT_NEAR(student_two_sided_p(t, 1e8), std::erfc(t / std::numbers::sqrt2), 1e-6) << t;
  }
  EXPECT_NEAR(student_two_sided_p(2.750, 30), 0.01, 1e-4);
  EXPECT_NEAR(student_two_sided_p(4.587, 10), 0.001, 1e-6);
  EXPECT_EQ(student_two_sided_p(std::numeric_limits<double>::infinity(), 5), 0);
}

TEST(Statistics, ABandIsAMeanAndItsReach) {
  const Band band = band_of(std::vector<double>{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(band.mean, 2.5);
  EXPECT_NEAR(band.deviation, std::sqrt(5.0 / 3), 1e-12);
  EXPECT_NEAR(band.high - band.mean, 3.182446 * std::sqrt(5.0 / 3) / 2, 1e-6);
  EXPECT_NEAR(band.mean - band.low, band.high - band.mean, 1e-12);
}

TEST(Statistics, ABandOfOneValueIsThatValue) {
  const Band band = band_of(std::vector<double>{0.7});
  EXPECT_EQ(band.low, 0.7);
  EXPECT_EQ(band.high, 0.7);
  EXPECT_EQ(band.deviation, 0);
  EXPECT_EQ(band_of({}).mean, 0);
}

TEST(Statistics, PairsThatDifferAlikeAreSignificant) {
  // Differences 1, 2, 3: t = 2 * sqrt(3), p = 1 - t / sqrt(2 + t^2).
  const auto test = paired_test(std::vector<double>{11, 22, 33}, std::vector<double>{10, 20, 30});
  ASSERT_TRUE(test);
  EXPECT_DOUBLE_EQ(test->difference, 2);
  EXPECT_NEAR(test->p, 1 - 2 * std::sqrt(3) / std::sqrt(14), 1e-12);
  EXPECT_NEAR(test->high - 2, 4.302653 / std::sqrt(3), 1e-6);
  const auto far = paired_test(std::vector<double>{1, 1.1, 0.9}, std::vector<double>{0, 0.1, 0});
  ASSERT_TRUE(far);
  EXPECT_LT(far->p, 0.01);
}

TEST(Statistics, PairsAreNeededToCompare) {
  EXPECT_FALSE(paired_test({}, {}));
  EXPECT_FALSE(paired_test(std::vector<double>{1}, std::vector<double>{2}));
  const std::vector<double> same = {1, 2};
  EXPECT_EQ(paired_test(same, same)->p, 1);
  EXPECT_EQ(paired_test(std::vector<double>{2, 3}, same)->p, 0);
}

TEST(Statistics, ATargetIsReachedBetweenTwoRounds) {
  const std::vector<double> at = {0, 10, 20, 30};
  const std::vector<double> values = {0.1, 0.5, 0.4, 0.9};
  EXPECT_NEAR(*reached_at(at, values, 0.3), 5, 1e-12);
  EXPECT_NEAR(*reached_at(at, values, 0.65), 25, 1e-12);
  EXPECT_EQ(*reached_at(at, values, 0.05), 0);
  EXPECT_EQ(*reached_at(at, values, 0.5), 10);
  EXPECT_FALSE(reached_at(at, values, 0.91));
  EXPECT_FALSE(reached_at({}, {}, 0.5));
}

}  // namespace
}  // namespace ebb::fl
