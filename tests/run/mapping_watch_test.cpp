// SPDX-License-Identifier: Apache-2.0
#include "run/mapping_watch.h"

#include <gtest/gtest.h>

namespace ebb::run {
namespace {

TEST(MappingWatch, ReadsAYoungProcessOftenAndAnOldOneOnceAMinute) {
  const double began = 50;
  double now = MappingWatch::first(began);
  int readings = 0;
  for (; now < began + 15; ++readings)
    now = MappingWatch::next(now, now - began);
  EXPECT_GE(readings, 4) << "a job of 15 s";
  for (int i = 0; i < 10; ++i)
    now = MappingWatch::next(now, now - began);
  EXPECT_EQ(MappingWatch::next(now, now - began), now + 60);
}

TEST(MappingWatch, TakesABoundedShareOfTheTimeHoweverManyProcessesThereAre) {
  MappingWatch watch;
  const double cost = 0.02;
  double spent = 0;
  for (double now = 0; now < 1000; now += 0.1) {
    if (!watch.may_read(now)) continue;
    watch.took(now, cost);
    spent += cost;
  }
  EXPECT_LE(spent, 0.0025 * 1000);
  EXPECT_GE(spent, 0.0015 * 1000) << "but makes use of it";
}

TEST(MappingWatch, ReadsTheFirstOnesWhenTheyCome) {
  MappingWatch watch;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(watch.may_read(1)) << i;
    watch.took(1, 0.01);
  }
  EXPECT_FALSE(watch.may_read(1));
  EXPECT_TRUE(watch.may_read(30));
}

}  // namespace
}  // namespace ebb::run
