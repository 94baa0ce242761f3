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

TEST(Cleanup, KnowsEachDeviceOnce) {
  Cleanup cleanup;
  cleanup.add(base::DeviceChange::between(1, 900, 500));
  cleanup.add(base::DeviceChange::between(0, 70, 70));
  cleanup.add(base::DeviceChange::between(1, 500, 200));
  EXPECT_EQ(cleanup.devices, (std::vector<base::DeviceChange>{{0, 70, 70, 0}, {1, 900, 200, 700}}));
  EXPECT_EQ(returned_by(cleanup.devices), 700U);
  EXPECT_EQ(devices_from(devices_json(cleanup.devices)), cleanup.devices);
  EXPECT_TRUE(devices_from(base::Json("no list")).empty());
}

TEST(Cleanup, OfSeveralTheDevicesAddUp) {
  std::vector<base::DeviceChange> sum;
  add_up(sum, base::DeviceChange::between(0, 900, 500));
  add_up(sum, base::DeviceChange::between(0, 800, 600));
  EXPECT_EQ(sum, (std::vector<base::DeviceChange>{{0, 900, 500, 600}}));
}

TEST(ReturnedText, NamesTheDevicesThatReturnedSomething) {
  EXPECT_EQ(returned_text(2 << 20, {}), "2.0 MiB");
  EXPECT_EQ(returned_text(2 << 20, {{0, 5, 5, 0}, {3, 20ULL << 30, 0, 20ULL << 30}}),
            "2.0 MiB and 20.0 GiB of GPU 3");
}

}  // namespace
}  // namespace ebb::fact
