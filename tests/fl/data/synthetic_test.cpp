// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "fl/data/data_set.h"

namespace ebb::fl {
namespace {

SyntheticOptions small() {
  SyntheticOptions options;
  options.train = 400;
  options.test = 200;
  return options;
}

TEST(SyntheticData, IsDecidedByItsSeed) {
  SyntheticOptions options = small();
  const auto one = synthetic_data_set(options);
  const auto same = synthetic_data_set(options);
  options.seed = 43;
  const auto other = synthetic_data_set(options);
  ASSERT_TRUE(one && same && other);
  EXPECT_EQ((*one)->train.pixels, (*same)->train.pixels);
  EXPECT_NE((*one)->train.pixels, (*other)->train.pixels);
}

TEST(SyntheticData, ASampleIsTheSameHoweverManyThereAre) {
  SyntheticOptions options = small();
  const auto many = synthetic_data_set(options);
  options.train = 100;
  const auto few = synthetic_data_set(options);
  ASSERT_TRUE(many && few);
  EXPECT_TRUE(std::equal((*few)->train.pixels.begin(), (*few)->train.pixels.end(),
                         (*many)->train.pixels.begin()));
}

TEST(SyntheticData, HasTheShapeThatWasAskedFor) {
  SyntheticOptions options = small();
  options.picture = {3, 32, 24};
  options.classes = 7;
  const auto data = synthetic_data_set(options);
  ASSERT_TRUE(data);
  EXPECT_EQ((*data)->classes, 7U);
  EXPECT_EQ((*data)->train.pixels.size(), 400U * 3 * 32 * 24);
  EXPECT_EQ((*data)->normalisation.mean.size(), 3U);
  std::vector<int> counts(7);
  for (const std::uint8_t label : (*data)->test.labels)
    ++counts.at(label);
  EXPECT_EQ(counts, (std::vector<int>{29, 29, 29, 29, 28, 28, 28}));
}

TEST(SyntheticData, CanBeLearntButNotWithoutEffort) {
  const auto data = synthetic_data_set(small());
  ASSERT_TRUE(data);
  const DataSet& set = **data;
  const std::size_t length = 28 * 28;
  // The mean picture of each class in training, and the nearest of them for each test picture.
  std::vector<std::vector<double>> means(10, std::vector<double>(length));
  for (std::size_t i = 0; i < set.train.size(); ++i)
    for (std::size_t at = 0; at < length; ++at)
      means[set.train.labels[i]][at] += set.train.pixels[i * length + at] / 40.0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < set.test.size(); ++i) {
    double best = std::numeric_limits<double>::max();
    std::size_t nearest = 0;
    for (std::size_t label = 0; label < 10; ++label) {
      double distance = 0;
      for (std::size_t at = 0; at < length; ++at) {
        const double difference = means[label][at] - set.test.pixels[i * length + at];
        distance += difference * difference;
      }
      if (distance < best) {
        best = distance;
        nearest = label;
      }
    }
    right += nearest == set.test.labels[i] ? 1U : 0U;
  }
  EXPECT_GT(right, 190U);
  // Noise and shifts: no two pictures of a class are alike.
  std::size_t differing = 0;
  for (std::size_t at = 0; at < length; ++at)
    differing += set.train.pixels[at] != set.train.pixels[10 * length + at] ? 1U : 0U;
  EXPECT_GT(differing, length * 9 / 10);
}

TEST(SyntheticData, RefusesWhatItCannotDraw) {
  SyntheticOptions options = small();
  options.classes = 257;
  ASSERT_FALSE(synthetic_data_set(options));
  EXPECT_EQ(synthetic_data_set(options).error().message,
            "synthetic data: 257 classes, expected 2 to 256");
  options = small();
  options.picture.height = 7;
  EXPECT_FALSE(synthetic_data_set(options));
  options = small();
  options.test = 0;
  EXPECT_FALSE(synthetic_data_set(options));
}

}  // namespace
}  // namespace ebb::fl
