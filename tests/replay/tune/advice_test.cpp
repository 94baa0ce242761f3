// SPDX-License-Identifier: Apache-2.0
// Advice on generated jobs, judged by what they went on to do.
#include "replay/advice.h"

#include <gtest/gtest.h>

#include "replay/parallel.h"
#include "support/effort.h"

namespace ebb::replay {
namespace {

/// Seeds from here on were not looked at while the bounds in choice.cpp were set.
constexpr std::uint64_t kFirstSeed = 2001;

TEST(AdviceOnGeneratedJobs, IsSeldomWorseThanExpandableSegmentsAndOftenBetter) {
  const auto count = static_cast<std::size_t>(support::trials(60, 2000));
  std::vector<Advice> all(count);
  for_all(count, [&](std::size_t i) { all[i] = advice_for(kFirstSeed + i); });
  AdviceCounts counts;
  for (std::size_t i = 0; i < count; ++i) {
    counts.add(all[i]);
    if (all[i].ratio() > 1.01) {
      std::printf("seed %zu (%s, %zu steps): %.3f with %s\n", kFirstSeed + i, all[i].family.c_str(),
                  all[i].steps, all[i].ratio(), all[i].conf.c_str());
    }
  }
  EXPECT_LE(counts.worse_1, static_cast<int>((count + 199) / 200));
  EXPECT_EQ(counts.worse_5, 0) << counts.worst;
  EXPECT_GE(counts.better_2, static_cast<int>(count / 10));
}

}  // namespace
}  // namespace ebb::replay
