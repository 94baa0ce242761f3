// SPDX-License-Identifier: Apache-2.0
#include "show/tuning_words.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::show {
namespace {

replay::TunedJob tuned(const std::string& best, std::uint64_t best_peak,
                       const std::string& recorded, std::uint64_t recorded_peak) {
  replay::TunedJob job;
  job.best.conf = best;
  job.best.outcome.peak_reserved = best_peak;
  job.recorded.conf = recorded;
  job.recorded.outcome.peak_reserved = recorded_peak;
  return job;
}

TEST(GainText, ComparesWithTheRecordedSettings) {
  const auto text = [](std::uint64_t best, std::uint64_t recorded) {
    const replay::TunedJob job = tuned("expandable_segments:True", best, "", recorded);
    return gain_text({&job});
  };
  EXPECT_EQ(text(10 * base::kMiB, 12 * base::kMiB), "saves 2.0 MiB against the recorded settings");
  EXPECT_EQ(text(12 * base::kMiB, 12 * base::kMiB),
            "holds as much as the recorded settings in what was recorded");
  EXPECT_EQ(text(13 * base::kMiB, 12 * base::kMiB),
            "holds 1.0 MiB more than the recorded settings in what was recorded");
}

TEST(GainText, SaysNoMoreThanItKnowsOfTheRecordedSettings) {
  const replay::TunedJob job = tuned("", 10 * base::kMiB, "", 10 * base::kMiB);
  EXPECT_EQ(gain_text({&job}), "these are the recorded settings");
}

TEST(GainText, ComparesWithTheDefaultWhereTheRecordedSettingsAreRefused) {
  replay::TunedJob same = tuned("", 10 * base::kMiB, "", 10 * base::kMiB);
  same.recorded_refused = true;
  EXPECT_EQ(gain_text({&same}), "these are the default settings");
  replay::TunedJob better = tuned("expandable_segments:True", 10 * base::kMiB, "", 12 * base::kMiB);
  better.recorded_refused = true;
  EXPECT_EQ(gain_text({&better}), "saves 2.0 MiB against the default settings");
  const replay::TunedJob other =
      tuned("expandable_segments:True", 10 * base::kMiB, "", 12 * base::kMiB);
  EXPECT_EQ(gain_text({&better, &other}), "saves 4.0 MiB against the recorded or default settings");
}

TEST(TriedText, SaysWhetherItIsProven) {
  replay::TuneResult result;
  result.tried = 40;
  EXPECT_EQ(tried_text(result), "40 settings replayed");
  result.proven = true;
  EXPECT_EQ(tried_text(result), "40 settings replayed, nothing can hold less");
}

TEST(BoundsTexts, SayHowFarAboveTheBestIs) {
  replay::TunedJob job = tuned("", 12 * base::kMiB, "", 12 * base::kMiB);
  job.lower_bound = 10 * base::kMiB;
  job.packing = 11 * base::kMiB;
  const std::vector<LabelledText> texts = bounds_texts(job);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].text, "10.0 MiB live at once: the best is 20.0 % above it");
  EXPECT_EQ(texts[1].text, "11.0 MiB, with all requests known in advance");
  job.best.outcome.oom.emplace();
  EXPECT_EQ(bounds_texts(job)[0].text, "10.0 MiB live at once") << "it did not come to its peak";
}

TEST(OutlookTexts, SayNothingOfGrowthWhereMemoryRanOut) {
  replay::Followed failing;
  failing.peak = 100 * base::kMiB;
  failing.live = 300 * base::kMiB;
  failing.out_of_memory = true;
  replay::TunedJob job =
      tuned("garbage_collection_threshold:0.8", 100 * base::kMiB, "", 100 * base::kMiB);
  job.best.limit = 120 * base::kMiB;
  job.later = replay::Foresight({failing, failing}, job.best.limit);
  const std::vector<LabelledText> texts = outlook_texts(job);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].text,
            "100.0 MiB at the most, 100.0 MiB as a rule; 2 of 2 futures run out of memory");
  EXPECT_EQ(texts[1].text, "none: some requests fail on any card");
  job.grows_on_any_card = true;
  EXPECT_EQ(outlook_texts(job)[1].text, "none: memory still grows");
}

}  // namespace
}  // namespace ebb::show
