// SPDX-License-Identifier: Apache-2.0
#include "sense/memory_info.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/bytes.h"
#include "recorded.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

using base::Code;
using base::kGiB;
using base::kMiB;

MemoryInfo info_of(const Roots& roots) {
  const auto info = memory_info(kRecorded, roots);
  EXPECT_TRUE(info) << info.error().message;
  return info ? *info : MemoryInfo{};
}

/// /proc/PID/limits with two of its lines changed.
std::string limits_text(const std::string& data, const std::string& address_space) {
  return "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max data size             " +
         data +
         "            unlimited            bytes     \n"
         "Max address space         " +
         address_space + "            unlimited            bytes\n";
}

TEST(MemoryInfo, IsRightInAContainerOf8GiBOnAHostOf256) {
  const MemoryInfo info = info_of(recorded("v2-private"));
  EXPECT_EQ(info.machine.total, 256 * kGiB);
  EXPECT_EQ(info.limit, 8 * kGiB);
  EXPECT_EQ(info.source, LimitSource::cgroup);
  EXPECT_NEAR(info.percent, 100.0 * 5300 / 8192, 0.01);
  EXPECT_NEAR(*info.working_set_percent, 87.5, 0.01);
  EXPECT_NEAR(*info.usage_percent, 100.0, 0.01) << "file cache fills any container";
  EXPECT_DOUBLE_EQ(info.fullest_percent, info.percent);
  EXPECT_EQ(*level_of(info), MemoryLevel::normal);
}

TEST(MemoryInfo, CountsWhatTheLimitingGroupHolds) {
  const MemoryInfo info = info_of(recorded("v2-nested"));
  EXPECT_EQ(info.limit, 8 * kGiB) << "the pod's, not the container's 16";
  EXPECT_EQ(info.source, LimitSource::cgroup);
  EXPECT_NEAR(info.percent, 100.0 * 6582 / 8192, 0.01) << "with its neighbours in the pod";
  EXPECT_NEAR(info.fullest_percent, 100.0 * 6582 / 7168, 0.01) << "of the pod's memory.high";
  ASSERT_TRUE(info.pressure);
  EXPECT_DOUBLE_EQ(info.pressure->some.avg10, 7.5) << "the group's, not the machine's";
}

TEST(MemoryInfo, SeesNeighboursFillAGroupFurtherUp) {
  const CopiedTree tree("v2-nested");
  tree.write("sys/fs/cgroup/kubepods.slice/memory.stat",
             "anon " + std::to_string(234 * kGiB) + "\nshmem 0\nkernel 0\nslab_reclaimable 0\n");
  const MemoryInfo info = info_of(tree.roots());
  EXPECT_EQ(info.limit, 8 * kGiB);
  EXPECT_NEAR(info.fullest_percent, 97.5, 0.01);
  EXPECT_EQ(*level_of(info), MemoryLevel::critical);
}

TEST(MemoryInfo, UsesTheOwnGroupWhereAHiddenOneLimits) {
  const MemoryInfo info = info_of(recorded("v1"));
  EXPECT_EQ(info.limit, 8 * kGiB);
  EXPECT_EQ(info.source, LimitSource::cgroup);
  EXPECT_NEAR(info.percent, 100.0 * 5300 / 8192, 0.01);
  EXPECT_NEAR(*info.working_set_percent, 68.75, 0.01);
  EXPECT_NEAR(*info.usage_percent, 78.125, 0.01);
}

TEST(MemoryInfo, AsksTheMachineWhereNoGroupLimits) {
  const MemoryInfo none = info_of(recorded("none"));
  EXPECT_EQ(none.source, LimitSource::machine);
  EXPECT_EQ(none.limit, 256 * kGiB);
  EXPECT_NEAR(none.percent, 100.0 * 56 / 256, 0.01) << "what is not available";
  EXPECT_EQ(none.working_set_percent, std::nullopt);

  const MemoryInfo above = info_of(recorded("v2"));
  EXPECT_EQ(above.cgroup.limit, 128 * kGiB);
  EXPECT_EQ(above.source, LimitSource::machine) << "the machine has less than the group allows";
  EXPECT_EQ(above.limit, above.machine.total);

  EXPECT_EQ(info_of(recorded("hybrid")).source, LimitSource::machine);
}

TEST(MemoryInfo, ObeysResourceLimits) {
  const CopiedTree tree("v2-private");
  tree.write("proc/100/limits", limits_text("unlimited", std::to_string(40 * kGiB)));
  EXPECT_EQ(info_of(tree.roots()).source, LimitSource::cgroup) << "the group is tighter";

  const CopiedTree free_tree("none");
  free_tree.write("proc/100/limits", limits_text("unlimited", std::to_string(40 * kGiB)));
  const MemoryInfo space = info_of(free_tree.roots());
  EXPECT_EQ(space.source, LimitSource::address_space);
  EXPECT_EQ(space.limit, 40 * kGiB);
  EXPECT_NEAR(space.percent, 75, 0.01) << "30 GiB are mapped";

  free_tree.write("proc/100/limits", limits_text(std::to_string(164'240 * 1024), "unlimited"));
  const MemoryInfo data = info_of(free_tree.roots());
  EXPECT_EQ(data.source, LimitSource::data_size);
  EXPECT_NEAR(data.percent, 50, 0.01);

  free_tree.write("proc/100/limits", limits_text("unlimited", "lots"));
  const auto garbled = memory_info(kRecorded, free_tree.roots());
  ASSERT_FALSE(garbled);
  EXPECT_EQ(garbled.error().code, Code::bad_input);
  EXPECT_NE(
      garbled.error().message.find("limits: Max address space: expected a number or unlimited"),
      std::string::npos)
      << garbled.error().message;

  free_tree.remove("proc/100/limits");
  EXPECT_EQ(info_of(free_tree.roots()).source, LimitSource::machine);
}

TEST(MemoryInfo, UsesTheNextFigureWhereTheKernelTellsLess) {
  const CopiedTree tree("v2-private");
  tree.write("sys/fs/cgroup/memory.stat", "inactive_file " + std::to_string(4 * kGiB) + "\n");
  EXPECT_NEAR(info_of(tree.roots()).percent, 50, 0.01) << "the working set";
  tree.write("sys/fs/cgroup/memory.stat", "pgfault 1\n");
  EXPECT_NEAR(info_of(tree.roots()).percent, 100, 0.01) << "the usage";
  tree.remove("sys/fs/cgroup/memory.current");
  EXPECT_NEAR(info_of(tree.roots()).percent, 62.5, 0.01) << "the process alone";
}

TEST(MemoryInfo, ReadsWithoutPressure) {
  const CopiedTree tree("v1");
  tree.remove("proc/pressure");
  EXPECT_FALSE(info_of(tree.roots()).pressure);
}

TEST(MemoryInfo, ReadsThisProcessAndAChild) {
  const support::WaitingChild child;
  for (const pid_t pid : {kSelf, child.pid()}) {
    const auto info = memory_info(pid);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_GT(info->process.rss, 0U);
    EXPECT_GT(info->limit, 0U);
    EXPECT_LE(info->limit, info->machine.total);
    EXPECT_GT(info->percent, 0);
    EXPECT_GE(info->fullest_percent, info->percent);
  }
}

TEST(MemoryInfo, FailsForAProcessThatIsNotThere) {
  const auto info = memory_info(0x3fffffff);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().code, Code::not_found);
}

TEST(LevelOf, ComparesWithTheThresholds) {
  MemoryInfo info;
  const struct {
    double percent;
    MemoryLevel level;
  } cases[] = {{84.99, MemoryLevel::normal},
               {85, MemoryLevel::warn},
               {89.99, MemoryLevel::warn},
               {90, MemoryLevel::critical},
               {120, MemoryLevel::critical}};
  for (const auto& c : cases) {
    info.fullest_percent = c.percent;
    EXPECT_EQ(*level_of(info), c.level) << c.percent;
  }
  info.fullest_percent = 50;
  EXPECT_EQ(*level_of(info, {40, 60}), MemoryLevel::warn);
  EXPECT_EQ(*level_of(info, {50, 50}), MemoryLevel::critical);
}

TEST(LevelOf, WarnsWhereTheWorkingSetStalls) {
  MemoryInfo info;
  info.working_set_percent = 95;
  info.usage_percent = 100;
  EXPECT_EQ(*level_of(info), MemoryLevel::normal) << "cache alone is no alarm";
  info.pressure = PressureReading{};
  info.pressure->some = {8, 3, 1, 0};
  EXPECT_EQ(*level_of(info), MemoryLevel::warn);
  info.pressure->some = {8, 9, 1, 0};
  EXPECT_EQ(*level_of(info), MemoryLevel::normal) << "falling";
  info.pressure->some = {1, 0, 0, 0};
  EXPECT_EQ(*level_of(info), MemoryLevel::normal) << "not felt";
}

TEST(CheckMemoryCritical, RefusesThresholdsThatAreNotInOrder) {
  for (const MemoryThresholds& thresholds :
       {MemoryThresholds{0, 90}, MemoryThresholds{-5, 90}, MemoryThresholds{95, 90},
        MemoryThresholds{85, 100.1}, MemoryThresholds{std::nan(""), 90},
        MemoryThresholds{85, std::nan("")}, MemoryThresholds{85, INFINITY}}) {
    EXPECT_FALSE(sense::check(thresholds));
    const auto check = check_memory_critical(thresholds);
    ASSERT_FALSE(check) << thresholds.warn << " " << thresholds.critical;
    EXPECT_EQ(check.error().code, Code::bad_input);
    EXPECT_EQ(check.error().message.find("memory thresholds: expected 0 < warn"), 0U);
  }
  EXPECT_TRUE(check_memory_critical({0.1, 100}));
}

TEST(CheckMemoryCritical, TellsLevelAndInfo) {
  const auto pod = check_memory_critical({}, kRecorded, recorded("v2-nested"));
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->level, MemoryLevel::critical);
  EXPECT_EQ(pod->info.limit, 8 * kGiB);
  const auto calm = check_memory_critical({}, kRecorded, recorded("v2-private"));
  ASSERT_TRUE(calm);
  EXPECT_EQ(calm->level, MemoryLevel::normal);
}

}  // namespace
}  // namespace ebb::sense
