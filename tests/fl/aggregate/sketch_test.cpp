// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/sketch.h"

#include "fl/random.h"
#include "fl/select/selector.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kSize = 5000;

std::vector<float> drawn(std::uint32_t which) {
  Random random(1, Purpose::sketch, which);
  std::vector<float> values(kSize);
  for (float& value : values)
    value = static_cast<float>(random.normal());
  return values;
}

double product(const std::vector<float>& one, const std::vector<float>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    sum += static_cast<double>(one[i]) * static_cast<double>(other[i]);
  return sum;
}

TEST(Sketch, HasTheInnerProductsOfWhatWasSketched) {
  const std::vector<float> zero(kSize);
  double own = 0;
  double foreign = 0;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const std::vector<float> one = sketch_of(zero, drawn(2 * i));
    const std::vector<float> other = sketch_of(zero, drawn(2 * i + 1));
    ASSERT_EQ(one.size(), kSketchLength);
    own += product(one, one) / 50;
    foreign += product(one, other) / 50;
  }
  EXPECT_NEAR(own / kSize, 1, 0.15);
  EXPECT_NEAR(foreign / kSize, 0, 0.1);
}

TEST(Sketch, IsOfTheDifferenceAlone) {
  const std::vector<float> from = {1, 2, 3};
  const std::vector<float> to = {2, 4, 8};
  EXPECT_EQ(sketch_of(from, to),
            sketch_of(std::vector<float>{0, 0, 0}, std::vector<float>{1, 2, 5}));
}

TEST(Distance, IsTheEuclideanNormOfTheDifference) {
  EXPECT_DOUBLE_EQ(distance(std::vector<float>{1, 1}, std::vector<float>{4, 5}), 5);
  EXPECT_DOUBLE_EQ(distance(std::vector<float>{}, std::vector<float>{}), 0);
}

}  // namespace
}  // namespace ebb::fl
