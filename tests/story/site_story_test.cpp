// SPDX-License-Identifier: Apache-2.0
#include "story/site_story.h"

#include <gtest/gtest.h>

#include <map>

#include "base/bytes.h"

namespace ebb::story {
namespace {

constexpr record::ProcessKey kJob{42, 1};
using base::kMiB;

fact::SiteStack python(const char* function, std::uint32_t line) {
  return {{"PyBytes_New", "", 0, "/usr/bin/python3"}, {function, "/job/a.py", line, ""}};
}

/// A minute of looks at sites whose bytes are functions of the second.
class Sites : public testing::Test {
 protected:
  template <class Bytes>
  void add(std::uint32_t number, const fact::SiteStack& frames, const Bytes& bytes) {
    run_.site_names.push_back({kJob, 0, number, frames});
    for (int second = 0; second < 60; ++second) {
      const auto held = static_cast<std::uint64_t>(bytes(second));
      run_.sites.push_back({kJob, double(second), number, held, held / 50, 20 + held / kMiB});
      totals_[second] += held;
    }
  }
  /// The process ends after its last look.
  void end() {
    record::ProcessHistory history;
    history.process.pid = kJob.pid;
    history.process.start = kJob.start;
    history.process.ended = 60;
    run_.processes.push_back(history);
  }
  SitesStory tell() {
    for (const auto& [second, bytes] : totals_)
      run_.samplings.push_back({kJob, double(second), bytes, 1000, 0, 3, 0.5});
    return sites_of(run_);
  }

  record::RecordedRun run_;
  std::map<int, std::uint64_t> totals_;
};

TEST_F(Sites, TheOneThatGrowsComesFirstWithItsShareOfTheGrowth) {
  add(8, python("cache", 3), [](int) { return 500 * kMiB; });
  add(16, python("leak", 7), [](int s) { return 2 * kMiB * static_cast<std::uint64_t>(s); });
  add(24, python("wave", 9),
      [](int s) { return static_cast<std::uint64_t>(s % 5 + 1) * 10 * kMiB; });
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 3U);
  const SiteStory& first = story.sites[0];
  EXPECT_EQ(place_of(first.frames), "a.py:7 leak");
  ASSERT_TRUE(first.growth);
  EXPECT_NEAR(first.growth->per_second, 2 * kMiB, kMiB / 10.0);
  EXPECT_GT(first.growth_share, 0.8);
  EXPECT_EQ(first.confidence, fact::Confidence::high);
  EXPECT_EQ(story.growing_place(kJob)->text, "a.py:7 leak");
  EXPECT_FALSE(story.sites[1].growth || story.sites[2].growth);
  EXPECT_EQ(story.sites[1].bytes, 500 * kMiB);
  EXPECT_EQ(story.sampling->no_python, 3U);
}

TEST_F(Sites, GrowthIsToldFromWhereASiteBegins) {
  add(8, python("leak", 7),
      [](int s) { return s < 15 ? 0 : kMiB * static_cast<std::uint64_t>(s - 14); });
  add(16, python("load", 9), [](int s) { return s < 15 ? 0 : 200 * kMiB; });
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 2U);
  EXPECT_EQ(place_of(story.sites[0].frames), "a.py:7 leak");
  ASSERT_TRUE(story.sites[0].growth);
  EXPECT_NEAR(story.sites[0].growth->per_second, kMiB, kMiB / 10.0);
  EXPECT_FALSE(story.sites[1].growth) << "loaded once";
  EXPECT_EQ(story.sites[0].since, 15);
  EXPECT_EQ(story.sites[1].since, 15);
}

TEST_F(Sites, WhatAProgramGivesBackAtItsEndIsNoPartOfItsStory) {
  add(8, python("cache", 3), [](int s) { return s >= 57 ? 0 : 100 * kMiB; });
  end();
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 1U);
  EXPECT_EQ(story.sites[0].bytes, 100 * kMiB);
}

TEST_F(Sites, WhatAProgramGivesBackSlowlyIsNoPartOfItsStoryEither) {
  add(8, python("leak", 7), [](int s) {
    return s < 40 ? 2 * kMiB * static_cast<std::uint64_t>(s)
                  : 4 * kMiB * static_cast<std::uint64_t>(59 - s);
  });
  add(16, python("start", 9), [](int) { return 3 * kMiB; });
  end();
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 2U);
  ASSERT_TRUE(story.growing_place(kJob));
  EXPECT_EQ(story.growing_place(kJob)->text, "a.py:7 leak");
  EXPECT_GE(story.sites[0].bytes, 78 * kMiB);
}

TEST_F(Sites, WhatAProgramHeldLongBeforeItsEndWasAnotherPartOfIt) {
  add(8, python("load", 3), [](int s) { return s < 30 ? 100 * kMiB : 0; });
  add(16, python("train", 9), [](int s) { return s < 30 ? 2 * kMiB : 20 * kMiB; });
  end();
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 1U);
  EXPECT_EQ(place_of(story.sites[0].frames), "a.py:9 train");
}

TEST_F(Sites, StacksThatReadAlikeAreOneSite) {
  add(8, python("leak", 7), [](int s) { return kMiB * static_cast<std::uint64_t>(s); });
  add(16, python("leak", 7), [](int s) { return kMiB * static_cast<std::uint64_t>(s); });
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 1U);
  EXPECT_EQ(story.sites[0].bytes, 2 * 59 * kMiB);
}

TEST_F(Sites, APlaceIsOneWhoeverCalledIt) {
  fact::SiteStack one = python("leak", 7), other = python("leak", 7);
  one.push_back({"main", "/job/a.py", 50, ""});
  other.push_back({"run", "/lib/threading.py", 975, ""});
  add(8, one, [](int s) { return kMiB * static_cast<std::uint64_t>(s); });
  add(16, other, [](int s) { return 2 * kMiB * static_cast<std::uint64_t>(s); });
  const SitesStory story = tell();
  EXPECT_EQ(story.sites.size(), 2U);
  const auto place = story.growing_place(kJob);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->text, "a.py:7 leak");
  EXPECT_NEAR(place->per_second, 3 * kMiB, kMiB / 10.0);
  EXPECT_GT(place->share, 0.9);
}

TEST_F(Sites, WhatIsBelowNoiseIsNotListed) {
  add(8, python("cache", 3), [](int) { return 500 * kMiB; });
  add(16, python("little", 7), [](int) { return kMiB / 2; });
  EXPECT_EQ(tell().sites.size(), 1U);
}

TEST_F(Sites, FewSamplesAreNoiseAndOneOfALargeBlockIsNot) {
  add(8, python("cache", 3), [](int) { return 500 * kMiB; });
  add(16, python("load", 7), [](int) { return 96 * kMiB; });
  add(24, python("guess", 9), [](int) { return 12 * kMiB; });
  for (record::Site& row : run_.sites) {
    if (row.number == 16) row.samples = 1;
    if (row.number == 24) {
      row.samples = 3;
      row.error = row.bytes * 58 / 100;
    }
  }
  const SitesStory story = tell();
  ASSERT_EQ(story.sites.size(), 2U);
  EXPECT_EQ(place_of(story.sites[1].frames), "a.py:7 load");
  const auto places = story.holding_places(kJob);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0], (fact::SiteShare{"a.py:3 cache", 500 * kMiB}));
}

TEST(SitesOfARun, WithoutSamplingNothingIsSaid) {
  const SitesStory story = sites_of({});
  EXPECT_FALSE(story.sampling);
  base::Json json;
  add_json(json, story);
  EXPECT_EQ(json.text(), R"({"sampling":null,"sites":null})");
}

TEST_F(Sites, ThatGrewOfLateLeadThoseThatHoldMore) {
  add(8, python("reserve", 3), [](int) { return 128 * kMiB; });
  add(16, python("loss", 7), [](int s) { return 2 * kMiB * static_cast<std::uint64_t>(s); });
  const std::vector<fact::SiteShare> places = tell().holding_places(kJob);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0], (fact::SiteShare{"a.py:7 loss", 118 * kMiB}));
  EXPECT_EQ(places[1], (fact::SiteShare{"a.py:3 reserve", 128 * kMiB}));
}

TEST_F(Sites, WhereNothingMuchGrewThoseThatHoldMostLead) {
  add(8, python("model", 3), [](int) { return 500 * kMiB; });
  add(16, python("cache", 7), [](int s) { return (20 + static_cast<std::uint64_t>(s)) * kMiB; });
  EXPECT_EQ(tell().holding_places(kJob).at(0).place, "a.py:3 model");
}

}  // namespace
}  // namespace ebb::story
