// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/card.h"

#include <gtest/gtest.h>

#include "replay/tune/training_job.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

using base::kMiB;

struct Tried {
  bool fails = false;
  std::uint64_t retries = 0;
};

/// All futures on a card of this size.
Tried on_card(const Outlook& outlook, const std::string& conf, std::uint64_t bytes) {
  Tried tried;
  for (const Scenario& which : outlook.scenarios()) {
    const Outcome outcome = outlook.run(which, conf, bytes);
    tried.fails |= outcome.oom.has_value();
    tried.retries = std::max(tried.retries, outcome.retries);
  }
  return tried;
}

TEST(SmallestCard, ServesEveryFutureAndTwoMebibytesLessDoNot) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  const Outlook outlook({&work}, Objective::memory, {});
  for (const std::string conf : {"", "expandable_segments:True"}) {
    SCOPED_TRACE(conf);
    const SmallestCard card = smallest_card(outlook, 0, conf).value();
    const Tried roomy = on_card(outlook, conf, card.without_retries);
    EXPECT_FALSE(roomy.fails);
    EXPECT_EQ(roomy.retries, 0U);
    const Tried less = on_card(outlook, conf, card.without_retries - 2 * kMiB);
    EXPECT_TRUE(less.fails || less.retries != 0);
    EXPECT_LE(card.with_retries, card.without_retries);
    EXPECT_GE(card.with_retries, outlook.most_live(0));
    const Tried tight = on_card(outlook, conf, card.with_retries);
    EXPECT_FALSE(tight.fails);
    EXPECT_EQ(tight.retries, card.retries);
    EXPECT_TRUE(on_card(outlook, conf, card.with_retries - 2 * kMiB).fails);
    EXPECT_EQ(card.futures, outlook.scenarios().size());
  }
}

TEST(SmallestCard, WithRetriesCostsSomething) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  const Outlook outlook({&work}, Objective::memory, {});
  const SmallestCard card = smallest_card(outlook, 0, "").value();
  ASSERT_LT(card.with_retries, card.without_retries);
  EXPECT_GT(card.retries, 0U);
  EXPECT_GT(card.seconds, 0);
  EXPECT_GT(card.steps, 12U);
}

TEST(SmallestCard, IsWhatLivesWhereStepsNeverDiffer) {
  RecordedJob job;
  job.take(64 * kMiB);
  for (int step = 0; step < 14; ++step) {
    job.give(job.take(100 * kMiB));
  }
  const Workload work = job.workload();
  const Outlook outlook({&work}, Objective::memory, {});
  const SmallestCard card = smallest_card(outlook, 0, "").value();
  EXPECT_EQ(card.without_retries, 164 * kMiB);
  EXPECT_EQ(card.with_retries, 164 * kMiB);
  EXPECT_EQ(card.retries, 0U);
}

TEST(SmallestCard, IsNotNamedWhereNoneIsLargeEnough) {
  RecordedJob job;
  job.give(job.take(64 * kMiB));
  Workload work = job.workload();
  work.operations.front().bytes = std::uint64_t{1} << 60;
  const Outlook outlook({&work}, Objective::memory, {});
  for (const std::string conf : {"", "expandable_segments:True"}) {
    EXPECT_FALSE(smallest_card(outlook, 0, conf)) << conf;
  }
}

TEST(SmallestCard, IsToldWhereThereIsALimit) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  TuneOptions options;
  EXPECT_FALSE(tune({&work}, options)->jobs[0].card);
  options.circumstances.limit = 200 * kMiB;
  const auto result = tune({&work}, options);
  ASSERT_TRUE(result && result->jobs[0].card);
  const base::Json json = to_json(*result, result->jobs[0]);
  ASSERT_NE(json.find("card"), nullptr);
  EXPECT_NE(json.find("card")->find("with_retries_bytes"), nullptr);
}

}  // namespace
}  // namespace ebb::replay
