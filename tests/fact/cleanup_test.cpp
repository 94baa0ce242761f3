// SPDX-License-Identifier: Apache-2.0
#include "fact/cleanup.h"

#include <gtest/gtest.h>

namespace ebb::fact {
namespace {

TEST(Trigger, IsFoundByItsName) {
  for (int i = 0; i <= static_cast<int>(Trigger::unknown); ++i) {
    const auto trigger = static_cast<Trigger>(i);
    const auto found = trigger_from(name_of(trigger));
    ASSERT_TRUE(found) << name_of(trigger);
    EXPECT_EQ(*found, trigger);
  }
  EXPECT_STREQ(name_of(Trigger::round), "round");
}

TEST(Trigger, OfANameThatNoneHasIsAnError) {
  for (const char* name : {"", "rounds", "ROUND"})
    EXPECT_EQ(trigger_from(name).error().code, base::Code::bad_input) << name;
}

TEST(Cleanup, ReturnsWhatRssFellBy) {
  Cleanup cleanup;
  cleanup.before.rss = 500;
  cleanup.after.rss = 200;
  cleanup.count_returned();
  EXPECT_EQ(cleanup.returned, 300U);
}

TEST(Cleanup, ReturnsNothingWhereRssGrewOrIsNotKnown) {
  Cleanup cleanup;
  cleanup.before.rss = 500;
  cleanup.after.rss = 600;
  cleanup.count_returned();
  EXPECT_EQ(cleanup.returned, 0U);
  cleanup.after.rss.reset();
  cleanup.count_returned();
  EXPECT_EQ(cleanup.returned, 0U) << "not all of it";
  cleanup.before.rss.reset();
  cleanup.after.rss = 600;
  cleanup.count_returned();
  EXPECT_EQ(cleanup.returned, 0U);
}

}  // namespace
}  // namespace ebb::fact
