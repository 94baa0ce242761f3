// SPDX-License-Identifier: Apache-2.0
#include "story/together.h"

#include <gtest/gtest.h>

#include "story/job.h"

namespace ebb::story {
namespace {

using fact::Verdict;

/// A server whose workers are replaced after thirty requests, so to speak: `held(t)` by each.
RunStory of_workers_in_turn(const Job::Curve& held, const Job::Curve& parent = level(28)) {
  Job job(200);
  job.add(7, "server", {parent, level(5), level(1)});
  for (int i = 0; i < 10; ++i)
    job.add(100 + i, "server", {held, level(5), level(1)}, 20.0 * i, 20.0 * i + 20);
  return story_of(job.recorded());
}

TEST(Together, WorkersThatAreReplacedAreJudgedByTheirSum) {
  const RunStory story = of_workers_in_turn(level(32));
  EXPECT_EQ(story.diagnosis.verdict, Verdict::healthy) << story.diagnosis.headline;
  EXPECT_EQ(story.diagnosis.confidence, fact::Confidence::medium);
  EXPECT_TRUE(story.diagnosis.headline.starts_with("of all processes together: memory does not"))
      << story.diagnosis.headline;
  EXPECT_FALSE(story.culprit);
  EXPECT_EQ(story.processes.front().diagnosis.verdict, Verdict::not_enough_data)
      << "twenty samples say nothing of one";
}

TEST(Together, WorkersThatAreReplacedByLargerOnesAreNotCalledHealthy) {
  const RunStory story = of_workers_in_turn(growing(32, 0.5));
  EXPECT_EQ(story.diagnosis.verdict, Verdict::not_enough_data) << story.diagnosis.headline;
  EXPECT_NE(story.diagnosis.headline.find("together they grow by +1."), std::string::npos)
      << story.diagnosis.headline;
}

TEST(Together, ASumIsNoAnswerForOneThatWasThereAllTheTime) {
  const auto restless = [](double t) { return 300 + 60 * std::sin(t / 40); };
  const RunStory story = of_workers_in_turn(level(32), restless);
  EXPECT_EQ(story.diagnosis.headline.find("together"), std::string::npos)
      << story.diagnosis.headline;
}

}  // namespace
}  // namespace ebb::story
