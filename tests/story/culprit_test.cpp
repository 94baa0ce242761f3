// SPDX-License-Identifier: Apache-2.0
#include "story/culprit.h"

#include <gtest/gtest.h>

namespace ebb::story {
namespace {

using fact::Verdict;

constexpr double kMebi = 1 << 20;

ProcessStory with(Verdict verdict, double pace, double grown_mib) {
  ProcessStory story;
  story.diagnosis.verdict = verdict;
  story.diagnosis.pace = pace;
  story.diagnosis.grown = grown_mib * kMebi;
  return story;
}

std::optional<Verdict> worst_of(const std::vector<ProcessStory>& processes) {
  const auto found = find_culprit(processes);
  if (!found) return std::nullopt;
  return processes[*found].diagnosis.verdict;
}

TEST(Culprit, WhatIsKeptCountsByItsSizeBesideCopies) {
  const ProcessStory copies = with(Verdict::copy_on_write, 0, 60);
  const double slow = 68 * kMebi / 3600;
  EXPECT_EQ(worst_of({with(Verdict::retention, slow, 14), copies}), Verdict::copy_on_write);
  EXPECT_EQ(worst_of({with(Verdict::retention, slow, 140), copies}), Verdict::retention);
  EXPECT_EQ(worst_of({with(Verdict::retention, 0, 0), copies}), Verdict::retention)
      << "as much as cleanups return";
  EXPECT_EQ(worst_of({with(Verdict::leak, slow, 14), copies}), Verdict::leak)
      << "copies end, a leak does not";
}

TEST(Culprit, IsNobodyWhereNothingGrows) {
  EXPECT_EQ(worst_of({}), std::nullopt);
  EXPECT_EQ(worst_of({with(Verdict::healthy, 0, 0), with(Verdict::not_enough_data, 0, 0)}),
            std::nullopt);
}

}  // namespace
}  // namespace ebb::story
