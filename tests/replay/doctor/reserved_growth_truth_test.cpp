// SPDX-License-Identifier: Apache-2.0
// What is said of one pass about growth, against what four passes really held.
#include "replay/doctor/reserved_growth.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "replay/long_job.h"

namespace ebb::replay {
namespace {

std::optional<ReservedGrowth> told_of(const Workload& work) {
  struct Setup setup;
  setup.settings = work.recording.settings;
  setup.profile = *cache::profile_of(work.recording.newest_minor);
  return find_reserved_growth(work, setup, replay(work, setup));
}

TEST(ReservedGrowthOfRealJobs, IsToldOfOnePass) {
  for (const std::string& name : long_jobs()) {
    SCOPED_TRACE(name);
    const LongJob job = read_long_job(name);
    const auto growth = told_of(job.pass1);
    const std::vector<LongJob::Peak>& real = job.measured.at("default").peaks;
    const LongJob::Peak& recorded = real.front();
    const LongJob::Peak& later = real.back();
    std::printf("%-20s %s recorded, %s after four passes: %s\n", name.c_str(),
                base::bytes_text(recorded.reserved).c_str(),
                base::bytes_text(later.reserved).c_str(),
                growth ? (base::bytes_text(growth->to) + " foretold, it " + end_text(*growth) +
                          "; " + text_of(growth->sizes.front()))
                             .c_str()
                       : "no growth foretold");
    if (name == "llama_ckpt") {
      ASSERT_TRUE(growth) << "4.3 GiB become 10.6 GiB, for 3.8 GiB live";
      EXPECT_GE(growth->worst, recorded.reserved + recorded.reserved / 2);
      EXPECT_LE(growth->worst, later.reserved);
    }
    if (!growth) continue;
    const std::uint64_t live = later.allocated - recorded.allocated;
    EXPECT_GE(later.reserved - recorded.reserved, live + recorded.reserved / 10)
        << "it is called growing, so it has to grow";
    EXPECT_EQ(growth->from, recorded.reserved);
  }
}

}  // namespace
}  // namespace ebb::replay
