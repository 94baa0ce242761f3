// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/knobs.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace ebb::replay {
namespace {

template <class T>
T one_of(std::mt19937_64& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

/// As a search comes across them, and further off.
Knobs some_knobs(std::mt19937_64& random) {
  Knobs knobs;
  knobs.expandable = random() % 2 == 0;
  knobs.split_mb = one_of<std::uint32_t>(random, {0, 0, 2, 19, 20, 21, 47, 64, 512});
  if (knobs.split_mb != 0)
    knobs.non_split_mb = one_of<std::uint32_t>(random, {0, 0, 18, 20, 21, 256, 1024});
  knobs.segment_mb = one_of<std::uint32_t>(random, {0, 0, 9, 10, 11, 12, 18, 20, 48, 128});
  knobs.collect_percent = one_of<std::uint32_t>(random, {0, 0, 29, 57, 60, 80, 90});
  const int lists = static_cast<int>(random() % 4);
  for (int i = 0; i < lists; ++i) {
    const std::size_t from = i == 0 ? 0 : random() % knobs.divisions.size();
    const std::size_t until = i == 1 ? from + 1 : knobs.divisions.size();
    std::fill(knobs.divisions.begin() + static_cast<std::ptrdiff_t>(from),
              knobs.divisions.begin() + static_cast<std::ptrdiff_t>(until),
              one_of<std::uint8_t>(random, {0, 2, 4, 8, 64}));
  }
  return knobs;
}

TEST(Knobs, AreTheValuesOfTheirStringInEveryRelease) {
  constexpr std::uint64_t kSeed = 20261119;
  std::mt19937_64 random(kSeed);
  int refused = 0;
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    const Knobs knobs = some_knobs(random);
    const int minor = cache::kOldestMinor + static_cast<int>(random() % 15);
    const cache::VersionProfile profile = *cache::profile_of(minor);
    const std::string conf = conf_of(knobs);
    SCOPED_TRACE(conf + " of case " + std::to_string(i));
    const auto read = cache::parse_settings(conf, profile);
    const auto values = settings_of(knobs, profile);
    ASSERT_EQ(values.has_value(), read.has_value()) << (read ? "" : read.error().message);
    ++(read ? taken : refused);
    if (!read) continue;
    ASSERT_EQ(values->expandable_segments, read->expandable_segments);
    ASSERT_EQ(values->max_split_size, read->max_split_size);
    ASSERT_EQ(values->max_non_split_rounding, read->max_non_split_rounding);
    ASSERT_EQ(values->large_segment_size, read->large_segment_size);
    ASSERT_EQ(values->garbage_collection_threshold, read->garbage_collection_threshold);
    ASSERT_EQ(values->roundup_divisions, read->roundup_divisions);
  }
  EXPECT_GT(refused, 2000);
  EXPECT_GT(taken, 2000);
}

}  // namespace
}  // namespace ebb::replay
