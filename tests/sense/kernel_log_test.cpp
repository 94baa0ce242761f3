// SPDX-License-Identifier: Apache-2.0
#include "sense/kernel_log.h"

#include <gtest/gtest.h>

namespace ebb::sense {
namespace {

/// Records of /dev/kmsg with these texts.
std::vector<OomReport> reports_of(const std::vector<std::string>& texts, const char* head = "6") {
  OomReportReader reader;
  int number = 100;
  for (const std::string& text : texts)
    reader.take(std::string(head) + "," + std::to_string(++number) + ",677332118,-;" + text + "\n");
  return reader.take_reports();
}

// As Linux 6.18 wrote them for a group of 32 MiB on v1, the stack and some lines left out.
const std::vector<std::string> kOfGroup{
    "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    "Call Trace:",
    "memory: usage 32768kB, limit 32768kB, failcnt 50",
    "memory+swap: usage 32768kB, limit 9007199254740988kB, failcnt 0",
    "kmem: usage 164kB, limit 9007199254740988kB, failcnt 0",
    "Memory cgroup stats for /jobs/small:",
    "cache 0",
    "rss 33366016",
    "total_cache 0",
    "total_rss 33366016",
    "Tasks state (memory values in pages):",
    "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents "
    "oom_score_adj name",
    "[  11458]     0 11458    10823     9780     8128     1652         0   122880        0        "
    "     0 python3",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/jobs/"
    "small,task_memcg=/jobs/small/worker,task=python3,pid=11458,uid=0",
    "Memory cgroup out of memory: Killed process 11458 (python3) total-vm:43292kB, "
    "anon-rss:32512kB, file-rss:6608kB, shmem-rss:0kB, UID:0 pgtables:120kB oom_score_adj:0",
};

TEST(KernelLog, TellsWhichGroupWasFullAndWhomItCost) {
  const auto reports = reports_of(kOfGroup);
  ASSERT_EQ(reports.size(), 1U);
  const OomReport& report = reports.front();
  EXPECT_FALSE(report.of_machine);
  EXPECT_EQ(report.full_group, "/jobs/small");
  EXPECT_EQ(report.task_group, "/jobs/small/worker");
  EXPECT_EQ(report.task, "python3");
  EXPECT_EQ(report.pid, 11458);
  EXPECT_EQ(report.usage, 32U << 20);
  EXPECT_EQ(report.limit, 32U << 20);
  EXPECT_EQ(report.kernel, 164U << 10);
  EXPECT_EQ(report.stats, "cache 0\nrss 33366016\ntotal_cache 0\ntotal_rss 33366016\n");
}

// As Linux 6.1 wrote them for a service of 256 MiB on v2, the stack and most counts left out.
const std::vector<std::string> kOfService{
    "dies invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
    "memory: usage 262144kB, limit 262144kB, failcnt 3478",
    "swap: usage 0kB, limit 0kB, failcnt 0",
    "Memory cgroup stats for /user.slice/app-a\\x5cx2db.service:",
    "anon 267517952\\x0afile 32768\\x0akernel 843776\\x0akernel_stack 49152\\x0apagetables "
    "630784\\x0asock 0"
    "\\x0ashmem 0\\x0afile_dirty 0\\x0aslab_reclaimable 52344\\x0aslab_unreclaimable "
    "69352\\x0apgfault 65",
    "Tasks state (memory values in pages):",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/"
    "user.slice/"
    "app-a\\x5cx2db.service,task_memcg=/user.slice/app-a\\x5cx2db.service,task=dies,pid=249,uid=0",
};

TEST(KernelLog, ReadsWhatIsWrittenInOneRecord) {
  const auto reports = reports_of(kOfService);
  ASSERT_EQ(reports.size(), 1U);
  const OomReport& report = reports.front();
  EXPECT_EQ(report.full_group, "/user.slice/app-a\\x2db.service") << "as systemd names it";
  EXPECT_EQ(report.usage, 256U << 20);
  EXPECT_EQ(report.stats,
            "anon 267517952\nfile 32768\nkernel 843776\nkernel_stack 49152\npagetables 630784\n"
            "sock 0\nshmem 0\nfile_dirty 0\nslab_reclaimable 52344\nslab_unreclaimable 69352\n")
      << "the last line may have been cut";
}

TEST(KernelLog, OnlyCountsAreTakenApart) {
  std::vector<std::string> texts = kOfService;
  texts[0] = "x\\x0amemory: usage 1kB invoked oom-killer: gfp_mask=0xcc0";
  texts[4] =
      "anon 1\\x0aoom-kill:constraint=CONSTRAINT_MEMCG,task=a,pid=1,uid=0\\x0afile 2\\x0ashmem 3";
  const auto reports = reports_of(texts);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().pid, 249);
  EXPECT_EQ(reports.front().stats, "anon 1\n");
  EXPECT_EQ(reports_of({"\\x", "\\x0", "\\xzz", "\\"}).size(), 0U);
}

TEST(KernelLog, TellsThatTheMachineWasFull) {
  const auto reports = reports_of(
      {"train invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0",
       "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
       "task_memcg=/jobs/a,task=train,pid=77,uid=1000"});
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_TRUE(reports.front().of_machine);
  EXPECT_EQ(reports.front().full_group, "");
  EXPECT_EQ(reports.front().task_group, "/jobs/a");
  EXPECT_EQ(reports.front().pid, 77);
  EXPECT_FALSE(reports.front().usage);
}

TEST(KernelLog, ANameThatLooksLikeTheRestOfTheLineChangesNothing) {
  std::vector<std::string> texts = kOfGroup;
  texts[13] =
      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,"
      "task_memcg=/a,task=x,pid=1,uid=0,,pid=11458,uid=0";
  const auto reports = reports_of(texts);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().pid, 11458);
  EXPECT_EQ(reports.front().task, "x,pid=1,uid=0,");
}

TEST(KernelLog, WhatOthersWroteThereIsNotBelieved) {
  EXPECT_TRUE(reports_of(kOfGroup, "14").empty()) << "facility 1 is that of programs";
  EXPECT_EQ(reports_of(kOfGroup, "4").size(), 1U);
}

TEST(KernelLog, GarbageIsNoReport) {
  OomReportReader reader;
  for (const char* record :
       {"", ";", "6", "6,1,2", "x,1,2,-;oom-kill:pid=1",
        "6,1,2,-;oom-kill:", "6,1,2,-;oom-kill:,task=,pid=,uid=", "6,1,2,-;oom-kill:,pid=1,uid=2",
        "6,1,2,-;oom-kill:,uid=1,pid=2,task=a", "6,1,2,-;oom-kill:,task=a,pid=99999999999,uid=0"})
    reader.take(record);
  EXPECT_TRUE(reader.take_reports().empty());
}

TEST(KernelLog, OneThatCannotBeReadSaysNothing) {
  KernelLog log = KernelLog::from_now("/nowhere/kmsg");
  EXPECT_FALSE(log.is_open());
  EXPECT_TRUE(log.take_reports().empty());
}

TEST(KernelLog, OfThisMachineCanBeReadWithoutWaiting) {
  KernelLog log = KernelLog::from_now();
  log.take_reports();  // whatever it says, it comes back
  log.take_reports();
}

}  // namespace
}  // namespace ebb::sense
