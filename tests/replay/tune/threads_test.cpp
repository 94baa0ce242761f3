// SPDX-License-Identifier: Apache-2.0
// Where the threads of a search meet. What it answers is tested without the thread sanitizer.
#include <gtest/gtest.h>

#include "replay/tune/training_job.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

// Under a limit: settings, futures, how the job goes on and the smallest card, on all threads.
TEST(TunersThreads, ComeToTheSameTwice) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  TuneOptions options;
  options.circumstances.limit = 200 * base::kMiB;
  std::string texts[2];
  for (std::string& text : texts) {
    const auto result = tune({&work}, options);
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->jobs[0].later && result->jobs[0].card);
    text = to_json(*result, result->jobs[0]).text();
  }
  EXPECT_EQ(texts[0], texts[1]);
}

}  // namespace
}  // namespace ebb::replay
