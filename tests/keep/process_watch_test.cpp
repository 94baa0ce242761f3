// SPDX-License-Identifier: Apache-2.0
#include "keep/process_watch.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "support/child_process.h"
#include "support/fake_clock.h"
#include "support/subprocess.h"

namespace ebb::keep {
namespace {

TEST(ProcessWatch, ReadsARealProcessOverAClocksTime) {
  const support::WaitingChild child;
  support::FakeClock clock;
  auto watch = ProcessWatch::of(child.pid(), clock);
  ASSERT_TRUE(watch) << watch.error().message;
  for (int i = 0; i < 100; ++i) {
    const auto sample = watch->sample();
    ASSERT_TRUE(sample) << sample.error().message;
    EXPECT_DOUBLE_EQ(sample->seconds, i);
    EXPECT_GT(sample->memory.process.rss, 0U);
    EXPECT_EQ(sample->processes, 1U);
    EXPECT_EQ(sample->tree_rss, sample->memory.process.rss);
    EXPECT_FALSE(sample->tree_pss) << "there is nobody to share with";
    clock.advance_seconds(1);
  }
  EXPECT_EQ(watch->samples(), 100U);
  const ProcessDiagnosis found = watch->diagnose();
  EXPECT_EQ(found.verdict, fact::Verdict::healthy) << found.headline;
  EXPECT_EQ(found.confidence, fact::Confidence::medium);
}

TEST(ProcessWatch, SumsWhatTheProcessStarted) {
  support::Subprocess shell({"/bin/sh", "-c", "exec 3<&0; cat <&3 & echo ready; wait"});
  ASSERT_EQ(shell.read_line(), "ready");
  support::FakeClock clock;
  auto watch = ProcessWatch::of(shell.pid(), clock);
  ASSERT_TRUE(watch) << watch.error().message;
  const auto sample = watch->sample();
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_EQ(sample->processes, 2U);
  EXPECT_GT(sample->tree_rss, sample->memory.process.rss);
  ASSERT_TRUE(sample->tree_pss);
  EXPECT_GT(*sample->tree_pss, 0U);
  EXPECT_LT(*sample->tree_pss, sample->tree_rss) << "both have the C library";
}

TEST(ProcessWatch, SaysThatItsProcessEnded) {
  support::WaitingChild child;
  auto watch = ProcessWatch::of(child.pid());
  ASSERT_TRUE(watch) << watch.error().message;
  ASSERT_TRUE(watch->sample());
  ASSERT_GE(watch->end_descriptor(), 0);
  pollfd end{watch->end_descriptor(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 0), 0);
  child.end();
  EXPECT_EQ(poll(&end, 1, 0), 1);
  auto sample = watch->sample();
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().code, base::Code::not_found);
  child.reap();
  sample = watch->sample();
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().code, base::Code::not_found);
  EXPECT_EQ(watch->samples(), 1U) << "what was seen stays";
}

TEST(ProcessWatch, NeedsAProcess) {
  const auto watch = ProcessWatch::of(4194304);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().code, base::Code::not_found);
}

}  // namespace
}  // namespace ebb::keep
