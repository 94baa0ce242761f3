// SPDX-License-Identifier: Apache-2.0
#include "sense/kill_counts.h"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <fstream>

#include "sense/recorded.h"

namespace ebb::sense {
namespace {

CgroupPlace place_in(const Roots& roots) {
  const auto place = find_cgroup(kRecorded, roots);
  EXPECT_TRUE(place) << place.error().message;
  return place.value_or(CgroupPlace{});
}

TEST(KillCounts, OfV2AreThoseOfEachLevelItself) {
  const CopiedTree tree("v2-nested");
  const CgroupPlace place = place_in(tree.roots());
  ASSERT_GE(place.directories.size(), 2U);
  const auto write = [&](std::size_t level, const char* file, const char* text) {
    std::ofstream(place.directories[level] + "/" + file) << text;
  };
  write(0, "memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\noom_group_kill 0\n");
  write(0, "memory.events.local", "low 0\nhigh 0\nmax 2\noom 0\noom_kill 3\n");
  write(1, "memory.events", "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n");
  write(1, "memory.events.local", "low 0\nhigh 0\nmax 7\noom 4\noom_kill 0\n");
  tree.write("proc/vmstat", "nr_free_pages 1\noom_kill 12\n");
  const KillCounts counts = read_kill_counts(place, tree.roots());
  EXPECT_EQ(counts.version, CgroupVersion::v2);
  ASSERT_EQ(counts.levels.size(), place.directories.size());
  EXPECT_EQ(counts.levels[0].group, place.group);
  EXPECT_EQ(counts.levels[0].full, 0U);
  EXPECT_EQ(counts.levels[0].killed, 3U);
  EXPECT_EQ(counts.levels[0].reached, 2U);
  EXPECT_EQ(counts.levels[1].full, 4U) << "the pod was full, not the container in it";
  EXPECT_EQ(counts.levels[1].group, place.group.substr(0, place.group.rfind('/')));
  EXPECT_TRUE(counts.levels[1].limit);
  EXPECT_EQ(counts.machine, 12U);
}

TEST(KillCounts, OfOlderKernelsOnV2IncludeTheGroupsBelow) {
  const CopiedTree tree("v2");
  const CgroupPlace place = place_in(tree.roots());
  std::ofstream(place.directories[0] + "/memory.events")
      << "low 0\nhigh 0\nmax 5\noom 2\noom_kill 1\n";
  const KillCounts counts = read_kill_counts(place, tree.roots());
  EXPECT_EQ(counts.levels[0].full, 2U);
  EXPECT_EQ(counts.levels[0].killed, 1U);
  EXPECT_FALSE(counts.machine) << "there is no vmstat in this tree";
}

TEST(KillCounts, OfV1TellHowOftenTheLimitWasReached) {
  const CopiedTree tree("v1");
  const CgroupPlace place = place_in(tree.roots());
  std::ofstream(place.directories[0] + "/memory.oom_control")
      << "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n";
  std::ofstream(place.directories[0] + "/memory.failcnt") << "95\n";
  const KillCounts counts = read_kill_counts(place, tree.roots());
  EXPECT_EQ(counts.version, CgroupVersion::v1);
  EXPECT_TRUE(counts.ancestors_hidden);
  EXPECT_EQ(counts.levels.at(0).killed, 6U);
  EXPECT_EQ(counts.levels.at(0).reached, 95U);
  EXPECT_FALSE(counts.levels.at(0).full);
}

TEST(KillCounts, KnowWhatSystemdOomdWroteOnTheGroup) {
  const CopiedTree tree("v2");
  const CgroupPlace place = place_in(tree.roots());
  const std::string& folder = place.directories.front();
  if (setxattr(folder.c_str(), "user.oomd_kill", "3", 1, 0) != 0)
    GTEST_SKIP() << "this file system keeps no attributes of users";
  EXPECT_EQ(read_kill_counts(place, tree.roots()).levels.at(0).oomd_killed, 3U);
  ASSERT_EQ(setxattr(folder.c_str(), "user.oomd_ooms", "1", 1, 0), 0);
  EXPECT_EQ(read_kill_counts(place, tree.roots()).levels.at(0).oomd_kills, 1U);
  ASSERT_EQ(setxattr(folder.c_str(), "user.oomd_kill", "many", 4, 0), 0);
  EXPECT_FALSE(read_kill_counts(place, tree.roots()).levels.at(0).oomd_killed);
}

TEST(KillCounts, BeginAtTheGroupThatIsCharged) {
  // A group below that is made by somebody who did not hand the controller on.
  const CopiedTree tree("v2-nested");
  const CgroupPlace outer = place_in(tree.roots());
  std::filesystem::create_directory(outer.directories.front() + "/inner");
  tree.write("proc/100/cgroup", "0::" + outer.group + "/inner\n");
  const CgroupPlace place = place_in(tree.roots());
  EXPECT_EQ(place.group, outer.group + "/inner");
  EXPECT_EQ(place.unaccounted, 1U);
  EXPECT_EQ(place.directories, outer.directories);
  EXPECT_EQ(group_above(place, 0), outer.group);
  const KillCounts counts = read_kill_counts(place, tree.roots());
  EXPECT_EQ(counts.unaccounted, 1U);
  EXPECT_EQ(counts.levels.at(0).group, outer.group);
  EXPECT_EQ(counts.levels.back().group, "/");
}

TEST(KillCounts, KeepWhatAGroupSaidBeforeItWasRemoved) {
  const CopiedTree tree("v2-nested");
  const CgroupPlace place = place_in(tree.roots());
  std::ofstream(place.directories[0] + "/memory.events.local") << "max 2\noom 1\noom_kill 3\n";
  const KillCounts earlier = read_kill_counts(place, tree.roots());
  std::filesystem::remove_all(place.directories[0]);
  std::ofstream(place.directories[1] + "/memory.events.local") << "max 2\noom 5\noom_kill 0\n";
  const KillCounts counts = later_of(earlier, read_kill_counts(place, tree.roots()));
  EXPECT_EQ(counts.levels[0].killed, 3U);
  EXPECT_EQ(counts.levels[0].full, 1U);
  EXPECT_EQ(counts.levels[0].limit, earlier.levels[0].limit);
  EXPECT_EQ(counts.levels[1].full, 5U) << "the later word counts where there is one";
  EXPECT_EQ(later_of({}, earlier).levels.size(), earlier.levels.size());
}

TEST(KillCounts, GarbageAndMissingFilesAreNoCounts) {
  const CopiedTree tree("v2");
  const CgroupPlace place = place_in(tree.roots());
  std::ofstream(place.directories[0] + "/memory.events") << "oom -1\noom_kill x\n";
  std::filesystem::remove(place.directories[1] + "/memory.events");
  const KillCounts counts = read_kill_counts(place, tree.roots());
  EXPECT_FALSE(counts.levels[0].killed);
  EXPECT_FALSE(counts.levels[1].full);
  EXPECT_TRUE(read_kill_counts({}, tree.roots()).levels.empty());
}

TEST(KillCounts, OfThisMachineCanBeRead) {
  const KillCounts counts = read_kill_counts({});
  EXPECT_TRUE(counts.machine) << "/proc/vmstat has had oom_kill since Linux 4.13";
}

}  // namespace
}  // namespace ebb::sense
