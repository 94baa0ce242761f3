// SPDX-License-Identifier: Apache-2.0
#include "sense/process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <vector>

#include "base/bytes.h"
#include "recorded.h"
#include "sense/machine.h"
#include "sense/process_cpu.h"
#include "sense/process_environment.h"
#include "sense/process_text.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

using base::Code;
using base::kMiB;

constexpr pid_t kNoSuchPid = 0x3fffffff;
constexpr uid_t kNobody = 65534;

bool mentions(const base::Error& error, const std::string& text) {
  return error.message.find(text) != std::string::npos;
}

TEST(ReadCpuSeconds, IsToldOfAProcessThatHasEndedToo) {
  support::WaitingChild child;
  ASSERT_TRUE(read_cpu_seconds(child.pid()));
  child.end();
  ASSERT_FALSE(read_process(child.pid()));
  const auto used = read_cpu_seconds(child.pid());
  ASSERT_TRUE(used) << used.error().message;
  EXPECT_GE(*used, 0);
  child.reap();
  EXPECT_FALSE(read_cpu_seconds(child.pid()));
}

TEST(ReadProcess, TellsWhatWasRecorded) {
  const auto reading = read_process(kRecorded, recorded("hybrid"));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->pid, 100);
  EXPECT_EQ(reading->rss, 70992U * 1024);
  EXPECT_EQ(reading->hwm, 70992U * 1024);
  EXPECT_EQ(reading->anon, 56124U * 1024);
  EXPECT_EQ(reading->file, 6676U * 1024);
  EXPECT_EQ(reading->shmem, 8192U * 1024);
  EXPECT_EQ(reading->data, 82120U * 1024);
  EXPECT_EQ(reading->swap, 0U);
  EXPECT_EQ(reading->locked, 0U);
  EXPECT_EQ(reading->virtual_size, 295188U * 1024);
  EXPECT_EQ(reading->threads, 4U);
  EXPECT_EQ(reading->minor_faults, 16296U);
  EXPECT_EQ(reading->major_faults, 1U);
  EXPECT_EQ(reading->pss, std::nullopt) << "not asked for";
}

TEST(ReadProcess, AddsSharesAndHugePagesWhenAskedForTheExactReading) {
  const auto reading = read_process_exact(kRecorded, recorded("v2"));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->rss, 2068U * 1024);
  EXPECT_EQ(reading->pss, 627U * 1024);
  EXPECT_EQ(reading->uss, (36U + 112U) * 1024);
  EXPECT_EQ(reading->anon_huge, 0U);
  EXPECT_EQ(reading->shared, 0U) << "112 KiB, all its own";
}

TEST(ReadProcess, WhatIsSharedIsNotKnownWhereTheKernelDoesNotTellIt) {
  const CopiedTree tree("v2");
  tree.write("proc/100/smaps_rollup",
             "0-1 ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss: 5 kB\nPrivate_Clean: 1 kB\n"
             "Private_Dirty: 3 kB\nAnonymous: 4 kB\nAnonHugePages: 0 kB\n");
  const auto reading = read_process_exact(kRecorded, tree.roots());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->uss, 4U * 1024);
  EXPECT_EQ(reading->shared, std::nullopt);
}

TEST(ReadProcess, TellsWhatAForkShares) {
  constexpr std::size_t kBytes = 32 * kMiB;
  const std::vector<char> data(kBytes, 1);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto reading = read_process_exact(child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(reading) << reading.error().message;
  ASSERT_TRUE(reading->shared) << "expected Linux 5.4 or later";
  // Half of what two share is saved by each of them.
  EXPECT_GE(*reading->shared, kBytes / 2);
  EXPECT_LT(*reading->uss, kBytes);
}

TEST(ReadProcess, ReadsItself) {
  const auto fast = read_rss_fast();
  const auto reading = read_process();
  const auto exact = read_process_exact();
  ASSERT_TRUE(fast && reading && exact);
  EXPECT_EQ(reading->pid, getpid());
  EXPECT_GT(*fast, kMiB);
  EXPECT_GE(reading->hwm, reading->rss);
  EXPECT_EQ(*reading->anon + *reading->file + *reading->shmem, reading->rss);
  EXPECT_GE(reading->threads, 1U);
  EXPECT_GT(reading->minor_faults, 0U);
  EXPECT_GT(reading->virtual_size, reading->rss);
  EXPECT_GT(exact->uss, 0U);
  EXPECT_LE(exact->uss, exact->pss);
  EXPECT_LE(exact->pss, exact->rss);
}

TEST(ReadProcess, ReadsAChild) {
  const support::WaitingChild child;
  const auto reading = read_process_exact(child.pid());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->pid, child.pid());
  EXPECT_GT(reading->rss, 0U);
  EXPECT_LE(reading->pss, reading->rss);
}

TEST(ReadProcess, SaysThatThereIsNoSuchProcess) {
  for (const auto& error :
       {read_process(kNoSuchPid).error(), read_process_exact(kNoSuchPid).error(),
        read_rss_fast(kNoSuchPid).error()}) {
    EXPECT_EQ(error.code, Code::not_found);
    EXPECT_TRUE(mentions(error, std::to_string(kNoSuchPid))) << error.message;
  }
}

TEST(ReadProcess, SaysThatAProcessHasEnded) {
  support::WaitingChild child;
  child.end();
  const auto unreaped = read_process(child.pid());
  ASSERT_FALSE(unreaped);
  EXPECT_EQ(unreaped.error().code, Code::not_found);
  EXPECT_TRUE(mentions(unreaped.error(), "waits for its parent")) << unreaped.error().message;
  child.reap();
  EXPECT_EQ(read_process(child.pid()).error().code, Code::not_found);
}

TEST(ReadProcess, EndsWithTheProcessThatItReads) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    auto reading = read_process_exact(child);
    while (reading)
      reading = read_process_exact(child);
    EXPECT_EQ(reading.error().code, Code::not_found) << reading.error().message;
    waitpid(child, nullptr, 0);
  }
}

TEST(ReadProcess, SaysThatAProcessEndedBetweenTwoOfItsFiles) {
  const CopiedTree gone("v2");
  gone.remove("proc/100/stat");
  const CopiedTree empty("v2");
  empty.write("proc/100/stat", "");
  support::WaitingChild child;
  child.end();
  const CopiedTree torn("v2");
  torn.link("proc/100/smaps_rollup", "/proc/" + std::to_string(child.pid()) + "/smaps_rollup");
  for (const CopiedTree* tree : {&gone, &empty, &torn}) {
    const auto reading = read_process_exact(kRecorded, tree->roots());
    ASSERT_FALSE(reading);
    EXPECT_EQ(reading.error().code, Code::not_found);
    EXPECT_EQ(reading.error().message, "process 100 ended while it was read");
  }
}

TEST(ReadProcess, SaysThatTheKernelHasNoExactReading) {
  const CopiedTree tree("v2");
  tree.remove("proc/100/smaps_rollup");
  const auto reading = read_process_exact(kRecorded, tree.roots());
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, Code::unavailable);
  EXPECT_TRUE(mentions(reading.error(), "smaps_rollup")) << reading.error().message;
}

TEST(ReadProcess, SaysThatAProcessIsAnothers) {
  // pid 1 is root's, unless the tests run as an ordinary user of a container that has it itself.
  struct stat owner {};
  ASSERT_EQ(stat("/proc/1", &owner), 0);
  if (geteuid() != 0 && owner.st_uid == geteuid()) GTEST_SKIP() << "every process here is ours";
  const std::string said = support::said_by_child([]() -> std::string {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return "cannot drop";
    const auto plain = read_process(1);
    if (!plain) return "plain: " + plain.error().message;
    const auto exact = read_process_exact(1);
    if (exact) return "was permitted";
    return std::string(name_of(exact.error().code)) + ": " + exact.error().message;
  });
  EXPECT_EQ(said.find("not_permitted: process 1 is not ours to read"), 0U) << said;
}

TEST(ReadProcess, NamesFileAndFieldOfWhatIsGarbled) {
  const struct {
    const char* file;
    const char* content;
    const char* message;
  } cases[] = {
      {"status", "Name:\tx\nState:\tS\nPid:\t100\nVmSize:\t1 kB\nVmRSS:\tmuch kB\nThreads:\t1\n",
       "status: VmRSS: expected a number of kB, got \"much kB\""},
      {"status", "Name:\tx\nState:\tS\nPid:\t100\nVmSize:\t1 kB\n", "status: Threads is missing"},
      {"status", "Name:\tx\nState:\tS\nPid:\t100\nVmSize:\t1 kB\nThreads:\t1\n",
       "status: VmRSS is missing"},
      {"status", "Name:\tx\nState:\tS\nPid:\t100\nVmSize:\t99999999999999999999 kB\nThreads:\t1\n",
       "status: VmSize: expected"},
      {"status", "Name:\tx\nSta", "cut short"},
      {"stat", "100 (x) S 1 2\n", "stat: minflt is missing"},
      {"stat", "no name\n", "stat: the name"},
      {"stat", "100 (x) S 1 1 1 1 1 1 -3 1 1 1 1 1 1 1 1 1 1 1 1\n", "stat: minflt: expected"},
      {"smaps_rollup", "0-1 ---p 0 00:00 0 [rollup]\nRss: 1 kB\n", "smaps_rollup: Pss is missing"},
  };
  for (const auto& c : cases) {
    const CopiedTree tree("v2");
    tree.write(std::string("proc/100/") + c.file, c.content);
    const auto reading = read_process_exact(kRecorded, tree.roots());
    ASSERT_FALSE(reading) << c.content;
    EXPECT_EQ(reading.error().code, Code::bad_input);
    EXPECT_TRUE(mentions(reading.error(), c.message)) << reading.error().message;
  }
}

TEST(ReadRssFast, ReadsRecordedTreesAndSaysWhatIsGarbled) {
  EXPECT_EQ(*read_rss_fast(kRecorded, recorded("v2")), 516 * page_size());
  const CopiedTree tree("v2");
  for (const char* text : {"12", "12 34", "12 x 5\n", "99999999999999999999 1 1\n"}) {
    tree.write("proc/100/statm", text);
    const auto rss = read_rss_fast(kRecorded, tree.roots());
    ASSERT_FALSE(rss) << text;
    EXPECT_EQ(rss.error().code, Code::bad_input);
    EXPECT_TRUE(mentions(rss.error(), "statm: resident: expected")) << rss.error().message;
  }
}

TEST(ReadProcess, TakesAnyNameOfAProgram) {
  const auto stat =
      parse_stat("100 (a) S 9 (b\n) S 1 1 1 1 -1 1 5 1 6 1 20 30 1 1 20 0 1 0 777 1 1\n", "stat");
  ASSERT_TRUE(stat) << stat.error().message;
  EXPECT_EQ(stat->minor_faults, 5U);
  EXPECT_EQ(stat->major_faults, 6U);
  EXPECT_EQ(stat->cpu_ticks, 50U);
  EXPECT_EQ(stat->start_ticks, 777U);
}

TEST(ReadProcess, ReadsAKernelThreadAsHoldingNothing) {
  const CopiedTree tree("v2");
  tree.write("proc/100/status", "Name:\tkthreadd\nState:\tS (sleeping)\nPid:\t100\nThreads:\t1\n");
  const auto reading = read_process_exact(kRecorded, tree.roots());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->rss, 0U);
  EXPECT_EQ(reading->pss, 0U);
  EXPECT_EQ(reading->anon, std::nullopt);
}

TEST(ReadEnvironment, TellsWhatAProcessWasStartedWith) {
  const CopiedTree tree("none");
  tree.write("proc/100/environ", std::string("A=1\0B=x=y\0EMPTY=\0broken\0=odd\0A=2", 32));
  const auto variables = read_environment(kRecorded, tree.roots());
  ASSERT_TRUE(variables) << variables.error().message;
  EXPECT_EQ(*variables,
            (std::map<std::string, std::string>{{"A", "1"}, {"B", "x=y"}, {"EMPTY", ""}}));
  tree.write("proc/100/environ", "");
  EXPECT_TRUE(read_environment(kRecorded, tree.roots())->empty());
  EXPECT_EQ(read_environment(4194304).error().code, base::Code::not_found);
}

TEST(ReadProcess, LeavesOpenWhatAKernelInUserSpaceDoesNotTell) {
  const CopiedTree tree("none");
  tree.write("proc/100/status",
             "Name:\tpython\nState:\tS (sleeping)\nTgid:\t100\nPid:\t100\nPPid:\t1\n"
             "TracerPid:\t0\nFDSize:\t64\nVmSize:\t2048 kB\nVmRSS:\t1024 kB\nVmData:\t512 kB\n"
             "Threads:\t2\nCapInh:\t0000000000000000\nSeccomp:\t0\n");
  const auto reading = read_process(kRecorded, tree.roots());
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->rss, kMiB);
  EXPECT_EQ(reading->data, kMiB / 2);
  EXPECT_EQ(reading->virtual_size, 2 * kMiB);
  EXPECT_EQ(reading->virtual_peak, std::nullopt);
  EXPECT_EQ(reading->hwm, std::nullopt);
  EXPECT_EQ(reading->anon, std::nullopt);
}

}  // namespace
}  // namespace ebb::sense
