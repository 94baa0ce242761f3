// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file.h"
#include "recorded.h"

namespace ebb::sense {
namespace {

using base::Code;
using base::kGiB;
using base::kMiB;

CgroupReading read_recorded(const Roots& roots) {
  const auto reading = read_cgroup(kRecorded, roots);
  EXPECT_TRUE(reading) << reading.error().message;
  return reading ? *reading : CgroupReading{};
}

TEST(ReadCgroup, TakesTheTightestLimitOverAllAncestors) {
  const CgroupReading reading = read_recorded(recorded("v2-nested"));
  EXPECT_EQ(reading.version, CgroupVersion::v2);
  EXPECT_FALSE(reading.hybrid);
  EXPECT_FALSE(reading.ancestors_hidden);
  EXPECT_EQ(reading.group, "/kubepods.slice/kubepods-pod7.slice/cri-1.scope");
  ASSERT_EQ(reading.levels.size(), 4U);
  EXPECT_EQ(reading.levels[0].limit, 16 * kGiB);
  EXPECT_EQ(reading.levels[1].limit, 8 * kGiB);
  EXPECT_EQ(reading.levels[2].limit, 240 * kGiB);
  EXPECT_EQ(reading.levels[3].limit, std::nullopt) << "the root has none";
  EXPECT_EQ(reading.limit, 8 * kGiB);
  EXPECT_EQ(reading.limiting, 1U);
  EXPECT_EQ(reading.soft_limit, 7 * kGiB);
  EXPECT_EQ(reading.levels[1].soft_limit, 7 * kGiB);
  EXPECT_EQ(reading.swap_limit, 0U);
}

TEST(ReadCgroup, TellsCacheFromWhatCannotBeReclaimed) {
  const CgroupReading reading = read_recorded(recorded("v2-nested"));
  const CgroupMemory own = reading.memory();
  EXPECT_EQ(own.usage, 6656 * kMiB);
  EXPECT_EQ(own.working_set, (6656 - 512) * kMiB);
  EXPECT_EQ(own.anon, 5120 * kMiB);
  EXPECT_EQ(own.shmem, 100 * kMiB);
  EXPECT_EQ(own.file, 1024 * kMiB);
  EXPECT_EQ(own.unreclaimable, (5120 + 100 + (200 - 120) + 1) * kMiB);
  const CgroupMemory pod = reading.levels[1].memory;
  EXPECT_EQ(pod.unreclaimable, (6144 + 356 + (200 - 120) + 2) * kMiB);
  EXPECT_EQ(reading.levels[3].memory.usage, std::nullopt) << "not read: it has no limit";
}

TEST(ReadCgroup, CountsEventsOfTheOwnGroup) {
  const CopiedTree tree("v2-nested");
  tree.write("sys/fs/cgroup/kubepods.slice/kubepods-pod7.slice/cri-1.scope/memory.events",
             "low 0\nhigh 1234\nmax 87\noom 2\noom_kill 1\noom_group_kill 0\n");
  const CgroupEvents events = read_recorded(tree.roots()).events;
  EXPECT_EQ(events.high, 1234U);
  EXPECT_EQ(events.max, 87U);
  EXPECT_EQ(events.oom, 2U);
  EXPECT_EQ(events.oom_kill, 1U);
}

TEST(ReadCgroup, SaysThatAPrivateNamespaceHidesAncestors) {
  const CgroupReading reading = read_recorded(recorded("v2-private"));
  EXPECT_EQ(reading.version, CgroupVersion::v2);
  EXPECT_TRUE(reading.ancestors_hidden);
  EXPECT_EQ(reading.group, "/");
  ASSERT_EQ(reading.levels.size(), 1U);
  EXPECT_EQ(reading.limit, 8 * kGiB);
  EXPECT_EQ(reading.limiting, 0U);
}

TEST(ReadCgroup, FindsTheLimitOfAHiddenAncestorOnV1) {
  const CgroupReading reading = read_recorded(recorded("v1"));
  EXPECT_EQ(reading.version, CgroupVersion::v1);
  EXPECT_TRUE(reading.ancestors_hidden);
  ASSERT_EQ(reading.levels.size(), 1U) << "only the own group is mounted";
  EXPECT_EQ(reading.levels[0].limit, 16 * kGiB);
  EXPECT_EQ(reading.limit, 8 * kGiB);
  EXPECT_EQ(reading.limiting, std::nullopt);
  EXPECT_EQ(reading.swap_limit, 1 * kGiB);
  EXPECT_EQ(reading.soft_limit, std::nullopt);
  const CgroupMemory own = reading.memory();
  EXPECT_EQ(own.usage, 6400 * kMiB);
  EXPECT_EQ(own.anon, 5120 * kMiB) << "with the groups below, not rss alone";
  EXPECT_EQ(own.working_set, (6400 - 768) * kMiB);
  EXPECT_EQ(own.unreclaimable, (5120 + 100 + 80) * kMiB);
  EXPECT_EQ(reading.events.max, 10405U);
  EXPECT_EQ(reading.events.oom_kill, 3U);
  EXPECT_EQ(reading.pressure_file, std::nullopt);
}

TEST(ReadCgroup, ReadsHybridMachinesPerController) {
  const Roots roots = recorded("hybrid");
  const CgroupReading reading = read_recorded(roots);
  EXPECT_EQ(reading.version, CgroupVersion::v1);
  EXPECT_TRUE(reading.hybrid);
  EXPECT_FALSE(reading.ancestors_hidden);
  EXPECT_EQ(reading.group, "/jobs/train");
  ASSERT_EQ(reading.levels.size(), 3U);
  EXPECT_EQ(reading.levels[0].directory, roots.mounts + "/sys/fs/cgroup/memory/jobs/train");
  EXPECT_EQ(reading.levels[2].directory, roots.mounts + "/sys/fs/cgroup/memory");
  EXPECT_EQ(reading.limit, std::nullopt) << "the huge number of v1 is none";
  EXPECT_EQ(reading.swap_limit, std::nullopt);
  EXPECT_TRUE(reading.memory().unreclaimable);
  EXPECT_LT(reading.memory().unreclaimable, reading.memory().usage);
  EXPECT_EQ(reading.pressure_file, roots.mounts + "/sys/fs/cgroup/unified/memory.pressure");
}

TEST(ReadCgroup, FindsALimitAboveTheOwnGroupOnV1) {
  const CopiedTree tree("hybrid");
  const std::string jobs = "sys/fs/cgroup/memory/jobs/";
  tree.write(jobs + "memory.limit_in_bytes", std::to_string(4 * kGiB) + "\n");
  std::string stat = *base::read_file(tree / (jobs + "train/memory.stat"));
  const std::string none = "hierarchical_memory_limit 9223372036854771712";
  const std::string all = "hierarchical_memory_limit " + std::to_string(4 * kGiB);
  stat.replace(stat.find(none), none.size(), all);
  tree.write(jobs + "train/memory.stat", stat);
  const CgroupReading reading = read_recorded(tree.roots());
  EXPECT_EQ(reading.limit, 4 * kGiB);
  EXPECT_EQ(reading.limiting, 1U);
  EXPECT_TRUE(reading.levels[1].memory.unreclaimable);
}

TEST(ReadCgroup, IgnoresAncestorsThatDoNotBindOnV1) {
  const CopiedTree tree("hybrid");
  tree.write("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "4096\n");
  const CgroupReading reading = read_recorded(tree.roots());
  EXPECT_EQ(reading.limit, std::nullopt) << "the kernel's own minimum says so";
  EXPECT_EQ(reading.limiting, std::nullopt);
}

TEST(ReadCgroup, SaysNoneWhereThereIsNone) {
  const CopiedTree absent("none");
  absent.remove("proc/100/cgroup");
  const CopiedTree no_mountinfo("v2");
  no_mountinfo.remove("proc/self");
  const CopiedTree no_controller("hybrid");
  no_controller.write("proc/100/cgroup", "0::/\n");
  for (const Roots& roots :
       {recorded("none"), absent.roots(), no_mountinfo.roots(), no_controller.roots()}) {
    const CgroupReading reading = read_recorded(roots);
    EXPECT_EQ(reading.version, CgroupVersion::none);
    EXPECT_TRUE(reading.levels.empty());
    EXPECT_EQ(reading.limit, std::nullopt);
  }
}

TEST(ReadCgroup, LeavesOpenWhatLiesOutsideOfTheNamespace) {
  for (const char* group : {"0::/../core\n", "0::/gone (deleted)\n"}) {
    const CopiedTree tree("v2-private");
    tree.write("proc/100/cgroup", group);
    const CgroupReading reading = read_recorded(tree.roots());
    EXPECT_EQ(reading.version, CgroupVersion::v2);
    EXPECT_TRUE(reading.ancestors_hidden);
    EXPECT_TRUE(reading.levels.empty());
    EXPECT_EQ(reading.limit, std::nullopt);
  }
  // A namespace of its own over a mount that was made outside of it.
  const CopiedTree tree("v2");
  tree.write("proc/100/cgroup", "0::/\n");
  tree.write("proc/self/mountinfo", "32 23 0:28 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  const CgroupReading reading = read_recorded(tree.roots());
  EXPECT_TRUE(reading.ancestors_hidden);
  EXPECT_TRUE(reading.levels.empty());
}

TEST(ReadCgroup, ChargesTheNearestAncestorWithTheMemoryController) {
  const CopiedTree tree("v2");
  tree.write("proc/100/cgroup", "0::/jobs/train/leaf\n");
  tree.write("sys/fs/cgroup/jobs/train/leaf/cgroup.type", "domain\n");
  tree.write("sys/fs/cgroup/jobs/train/leaf/memory.pressure",
             *base::read_file(tree / "sys/fs/cgroup/memory.pressure"));
  const CgroupReading reading = read_recorded(tree.roots());
  ASSERT_EQ(reading.levels.size(), 3U);
  EXPECT_EQ(reading.levels[0].directory, tree / "sys/fs/cgroup/jobs/train");
  EXPECT_EQ(reading.memory().usage, 4079616U);
  EXPECT_EQ(reading.limit, 137438953472U) << "its parent's";
  EXPECT_EQ(reading.pressure_file, tree / "sys/fs/cgroup/jobs/train/leaf/memory.pressure");
}

TEST(ReadCgroup, ChoosesTheMountThatShowsMost) {
  const CopiedTree tree("v2");
  tree.write("proc/self/mountinfo",
             "32 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
             "33 23 0:28 /jobs/train /elsewhere/own\\040group rw shared:3 - cgroup2 cgroup2 rw\n"
             "34 23 0:28 /other /elsewhere/other rw - cgroup2 cgroup2 rw\n");
  tree.write("elsewhere/own group/memory.stat", "anon 1\n");
  EXPECT_EQ(read_recorded(tree.roots()).levels.size(), 3U);

  tree.remove("sys/fs/cgroup");
  const CgroupReading bound = read_recorded(tree.roots());
  ASSERT_EQ(bound.levels.size(), 1U);
  EXPECT_EQ(bound.levels[0].directory, tree / "elsewhere/own group");
  EXPECT_TRUE(bound.ancestors_hidden);
}

TEST(ReadCgroup, AddsUpKernelMemoryWhereTheKernelTellsItInParts) {
  const CopiedTree tree("v2-private");
  tree.write("sys/fs/cgroup/memory.stat",
             "anon 100\nfile 50\nkernel_stack 1\npagetables 2\npercpu 4\nsock 8\nshmem 16\n"
             "inactive_file 30\nslab_reclaimable 32\nslab_unreclaimable 64\n");
  EXPECT_EQ(read_recorded(tree.roots()).memory().unreclaimable, 100U + 16 + 1 + 2 + 4 + 8 + 64);
}

TEST(ReadCgroup, LeavesPartsOpenWhoseFilesAreAbsent) {
  const CopiedTree tree("v2-private");
  for (const char* file : {"memory.max", "memory.current", "memory.events", "memory.swap.max"})
    tree.remove(std::string("sys/fs/cgroup/") + file);
  tree.write("sys/fs/cgroup/memory.stat", "anon 100\n");
  const CgroupReading reading = read_recorded(tree.roots());
  EXPECT_EQ(reading.limit, std::nullopt);
  EXPECT_EQ(reading.swap_limit, std::nullopt);
  EXPECT_EQ(reading.events.oom_kill, std::nullopt);
  EXPECT_EQ(reading.memory().usage, std::nullopt);
  EXPECT_EQ(reading.memory().working_set, std::nullopt);
  EXPECT_EQ(reading.memory().unreclaimable, std::nullopt);
  EXPECT_EQ(reading.memory().anon, 100U);
}

TEST(ReadCgroup, ShowsGarbageWithTheFileThatHoldsIt) {
  const std::string long_line(5000, 'x');
  const struct {
    const char* tree;
    const char* file;
    std::string content;
    const char* message;
  } cases[] = {
      {"v2-private", "sys/fs/cgroup/memory.max", "lots\n",
       "expected a number of bytes or max, got \"lots\""},
      {"v2-private", "sys/fs/cgroup/memory.max", "-1\n", "got \"-1\""},
      {"v2-private", "sys/fs/cgroup/memory.max", "", "is empty"},
      {"v2-private", "sys/fs/cgroup/memory.max", "1\n2\n", "expected one line"},
      {"v2-private", "sys/fs/cgroup/memory.high", long_line + "\n", "xxx...\""},
      {"v2-private", "sys/fs/cgroup/memory.current", "max\n", "expected a number, got \"max\""},
      {"v2-private", "sys/fs/cgroup/memory.stat", "anon\n", "a key and a number"},
      {"v2-private", "sys/fs/cgroup/memory.stat", "anon 12x\n", "\"anon\": expected a number"},
      {"v2-private", "sys/fs/cgroup/memory.stat", std::string("anon 1\0\x1b[2J\n", 12),
       "got \"1??[2J\""},
      {"v2-private", "sys/fs/cgroup/memory.events", "oom 1", "cut short"},
      {"v1", "sys/fs/cgroup/memory/memory.limit_in_bytes", "?\n", "got \"?\""},
      {"v1", "sys/fs/cgroup/memory/memory.oom_control", "under_oom\n", "a key and a number"},
      {"v1", "proc/100/cgroup", "memory\n", "number:controllers:/path"},
      {"v1", "proc/100/cgroup", "11:memory:docker\n", "number:controllers:/path"},
      {"v1", "proc/self/mountinfo", "31 23 0:28 / /sys\n", "a mount with"},
      {"v1", "proc/self/mountinfo", "35 31 0:32 x y ro - cgroup cgroup rw,memory\n", "absolute"},
  };
  for (const auto& c : cases) {
    const CopiedTree tree(c.tree);
    tree.write(c.file, c.content);
    const auto reading = read_cgroup(kRecorded, tree.roots());
    ASSERT_FALSE(reading) << c.file << ": " << c.content;
    const std::string& message = reading.error().message;
    EXPECT_EQ(reading.error().code, Code::bad_input);
    EXPECT_NE(message.find(tree / c.file), std::string::npos) << message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
    EXPECT_LT(message.size(), 300U);
  }
}

TEST(ReadCgroup, SaysThatThereIsNoSuchProcess) {
  const auto reading = read_cgroup(4242, recorded("v2"));
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, Code::not_found);
  EXPECT_NE(reading.error().message.find("no process with pid 4242"), std::string::npos);
}

TEST(ReadCgroup, ReadsThisMachine) {
  const auto reading = read_cgroup();
  ASSERT_TRUE(reading) << reading.error().message;
  const auto text = base::read_file("/proc/self/cgroup");
  const bool told = text && text->find(reading->group) != std::string::npos;
  EXPECT_TRUE(reading->version == CgroupVersion::none || told) << reading->group;
  for (const CgroupLevel& level : reading->levels) {
    EXPECT_LE(reading->limit.value_or(0), level.limit.value_or(UINT64_MAX));
    EXPECT_LE(level.memory.working_set.value_or(0), level.memory.usage.value_or(UINT64_MAX));
  }
}

}  // namespace
}  // namespace ebb::sense
