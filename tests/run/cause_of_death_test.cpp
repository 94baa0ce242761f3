// SPDX-License-Identifier: Apache-2.0
#include "run/cause_of_death.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/bytes.h"

namespace ebb::run {
namespace {

using base::kMiB;
using fact::Killer;
using sense::CgroupVersion;
using sense::LevelKills;

/// A job in the group /jobs/a of 256 MiB, below /jobs of 1 GiB.
DeathClues clues_of(CgroupVersion version, std::optional<int> signal, std::optional<int> status) {
  DeathClues clues;
  clues.ending.signal = signal;
  clues.ending.exit_code = status;
  clues.seconds = 10;
  clues.command = 4242;
  sense::KillCounts counts;
  counts.version = version;
  LevelKills own{"/jobs/a", 256 * kMiB, 0, 5, 0, {}, {}};
  LevelKills above{"/jobs", 1024 * kMiB, 0, 0, 0, {}, {}};
  LevelKills root{"/", {}, {}, {}, {}, {}, {}};
  if (version == CgroupVersion::v1) own.full = above.full = std::nullopt;
  counts.levels = {own, above, root};
  counts.machine = 7;
  clues.before = clues.after = counts;
  return clues;
}

fact::Death death_of(const DeathClues& clues) {
  const auto death = cause_of_death(clues);
  EXPECT_TRUE(death);
  return death.value_or(fact::Death{});
}

TEST(CauseOfDeath, IsTheGroupThatWasFull) {
  for (const CgroupVersion version : {CgroupVersion::v1, CgroupVersion::v2}) {
    DeathClues clues = clues_of(version, SIGKILL, {});
    clues.after.levels[0].killed = 1;
    clues.after.levels[0].reached = 90;
    if (version == CgroupVersion::v2) clues.after.levels[0].full = 1;
    clues.after.machine = 8;
    const fact::Death death = death_of(clues);
    EXPECT_EQ(death.by, Killer::cgroup);
    EXPECT_EQ(death.group, "/jobs/a");
    EXPECT_EQ(death.level, 0U);
    EXPECT_EQ(death.limit, 256 * kMiB);
    EXPECT_EQ(death.pid, 4242);
    EXPECT_EQ(death.signal, SIGKILL);
  }
}

TEST(CauseOfDeath, MayBeAGroupAbove) {
  for (const CgroupVersion version : {CgroupVersion::v1, CgroupVersion::v2}) {
    DeathClues clues = clues_of(version, SIGKILL, {});
    clues.after.levels[0].killed = 1;
    clues.after.levels[1].reached = 3;
    if (version == CgroupVersion::v2) {
      clues.after.levels[1].full = 1;
      clues.after.levels[0].reached = 40;  // its own cache could be dropped
    }
    const fact::Death death = death_of(clues);
    EXPECT_EQ(death.by, Killer::cgroup);
    EXPECT_EQ(death.group, "/jobs");
    EXPECT_EQ(death.level, 1U);
    EXPECT_EQ(death.limit, 1024 * kMiB);
  }
}

TEST(CauseOfDeath, CountsLevelsFromTheJobsOwnGroupUpwards) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGKILL, {});
  clues.before.unaccounted = clues.after.unaccounted = 1;  // it lives in /jobs/a/inner
  clues.after.levels[0].killed = 1;
  clues.after.levels[0].full = 1;
  fact::Death death = death_of(clues);
  EXPECT_EQ(death.group, "/jobs/a");
  EXPECT_EQ(death.level, 1U);
  sense::OomReport report;
  report.full_group = report.task_group = "/jobs/a";
  clues.report = report;
  death = death_of(clues);
  EXPECT_EQ(death.group, "/jobs/a");
  EXPECT_EQ(death.level, 1U);
}

TEST(CauseOfDeath, IsNotGuessedWhereTheGroupIsGone) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGKILL, {});
  clues.after.levels[0] = LevelKills{"/jobs/a", {}, {}, {}, {}, {}, {}};
  clues.after.machine = 8;  // it, or somebody else
  EXPECT_EQ(death_of(clues).by, Killer::unknown);
}

TEST(CauseOfDeath, IsTheMachineWhereNoGroupWasFull) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGKILL, {});
  clues.after.levels[0].killed = 1;
  clues.after.machine = 8;
  EXPECT_EQ(death_of(clues).by, Killer::machine);
  clues.after.ancestors_hidden = true;
  const fact::Death hidden = death_of(clues);
  EXPECT_EQ(hidden.by, Killer::cgroup);
  EXPECT_EQ(hidden.group, "");
  EXPECT_NE(hidden.findings.front().find("or the machine"), std::string::npos);
  // The root group counts none: those of the machine have to do.
  DeathClues in_root = clues_of(CgroupVersion::v2, SIGKILL, {});
  in_root.before.levels = in_root.after.levels = {LevelKills{"/", {}, {}, {}, {}, {}, {}}};
  in_root.after.machine = 8;
  EXPECT_EQ(death_of(in_root).by, Killer::machine);
  EXPECT_EQ(death_of(in_root).findings.back(),
            "the machine counts 1 process killed for memory in this run");
  // Without control groups there is the machine's own count.
  DeathClues alone = clues_of(CgroupVersion::none, SIGKILL, {});
  alone.before.levels.clear();
  alone.after.levels.clear();
  alone.after.machine = 8;
  EXPECT_EQ(death_of(alone).by, Killer::machine);
}

TEST(CauseOfDeath, IsNotSomebodyElsesKill) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGKILL, {});
  clues.after.machine = 8;  // in another group
  EXPECT_EQ(death_of(clues).by, Killer::unknown);
  EXPECT_EQ(fact::text_of(death_of(clues)), "SIGKILL from outside, sender not known");
}

TEST(CauseOfDeath, IsWhatTheKernelsLogSays) {
  DeathClues clues = clues_of(CgroupVersion::v1, SIGKILL, {});
  clues.after.levels[0].killed = 1;
  clues.after.levels[0].reached = 90;
  sense::OomReport report;
  report.full_group = "/outside/jobs";
  report.task_group = "/outside/jobs/a";
  report.task = "python3";
  report.pid = 4242;
  report.usage = report.limit = 1024 * kMiB;
  clues.report = report;
  fact::Death death = death_of(clues);
  EXPECT_EQ(death.by, Killer::cgroup);
  EXPECT_EQ(death.group, "/jobs") << "the namespace begins below /outside";
  EXPECT_EQ(death.level, 1U);
  EXPECT_EQ(death.reached, 1024 * kMiB);
  clues.report->full_group = "/elsewhere";
  death = death_of(clues);
  EXPECT_EQ(death.group, "/elsewhere");
  EXPECT_FALSE(death.level);
  clues.report->of_machine = true;
  EXPECT_EQ(death_of(clues).by, Killer::machine);
}

TEST(CauseOfDeath, MayBeThatOfAProcessThatTheCommandDidNotOutlive) {
  DeathClues clues = clues_of(CgroupVersion::v2, {}, 137);
  clues.after.levels[0].killed = 1;
  clues.after.levels[0].full = 1;
  const fact::Death death = death_of(clues);
  EXPECT_EQ(death.by, Killer::cgroup);
  EXPECT_FALSE(death.of_command);
  clues.ending.exit_code = 1;
  EXPECT_FALSE(cause_of_death(clues)) << "it may have been somebody else's process";
  clues.report.emplace();
  clues.report->task = "worker";
  clues.report->pid = 4300;
  EXPECT_EQ(death_of(clues).pid, 4300);
  clues.ending.exit_code = 0;
  EXPECT_FALSE(cause_of_death(clues)) << "it went on and ended well";
}

TEST(CauseOfDeath, IsSystemdOomdWhereItSaysSo) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGKILL, {});
  clues.before.levels[1].oomd_killed = 2;
  clues.after.levels[1].oomd_killed = 4;
  const fact::Death death = death_of(clues);
  EXPECT_EQ(death.by, Killer::systemd_oomd);
  EXPECT_EQ(death.group, "/jobs");
  EXPECT_NE(death.findings.front().find("user.oomd_kill rose by 2"), std::string::npos);
  // It counts the processes only once it has killed them all, but what it sets out to do before.
  clues.after.levels[1].oomd_killed = 2;
  EXPECT_EQ(death_of(clues).by, Killer::unknown);
  clues.after.levels[1].oomd_kills = 1;
  EXPECT_EQ(death_of(clues).by, Killer::systemd_oomd);
}

TEST(CauseOfDeath, IsTheLimitOfTimeOnlyWhereItWasUsedUp) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGXCPU, {});
  clues.limits.cpu_soft = 3;  // 2, and a second for the signal that was sent
  clues.limits.cpu_hard = 4;
  clues.cpu_seconds = 2.004;
  const fact::Death soft = death_of(clues);
  EXPECT_EQ(soft.by, Killer::rlimit_cpu);
  EXPECT_EQ(soft.limit_seconds, 2.0);
  EXPECT_EQ(soft.used_seconds, 2.004);
  EXPECT_TRUE(soft.findings.empty());
  clues.cpu_seconds = 1.4;  // on a busy machine, where the kernel counted ticks that others had too
  EXPECT_EQ(death_of(clues).by, Killer::rlimit_cpu);
  EXPECT_EQ(death_of(clues).findings.size(), 1U) << "it says that it is not sure";
  clues.cpu_seconds = 2.004;
  clues.ending.signal = SIGKILL;
  EXPECT_EQ(death_of(clues).by, Killer::unknown) << "the hard limit was not reached";
  clues.cpu_seconds = 3.9;
  EXPECT_EQ(death_of(clues).by, Killer::rlimit_cpu);
  clues.ending.signal = SIGXCPU;
  clues.cpu_seconds = 0.5;
  EXPECT_EQ(death_of(clues).by, Killer::unknown) << "somebody sent it";
}

TEST(CauseOfDeath, IsTheLimitOfTheAddressSpaceOnlyWhereItWasNear) {
  for (const auto& [signal, status] :
       {std::pair<std::optional<int>, std::optional<int>>{SIGABRT, {}}, {{}, 1}, {SIGSEGV, {}}}) {
    DeathClues clues = clues_of(CgroupVersion::v2, signal, status);
    clues.limits.address_space = 512 * kMiB;
    clues.address_space = 500 * kMiB;
    EXPECT_EQ(death_of(clues).by, Killer::rlimit_as);
    clues.address_space = 300 * kMiB;
    EXPECT_FALSE(cause_of_death(clues));
    clues.limits.address_space.reset();
    EXPECT_FALSE(cause_of_death(clues));
  }
}

TEST(CauseOfDeath, IsWhoSentTheSignal) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGTERM, {});
  SentSignal sent;
  sent.number = SIGTERM;
  sent.sender = 77;
  sent.sender_name = "bash";
  sent.sender_user = 1000;
  clues.sent = sent;
  fact::Death death = death_of(clues);
  EXPECT_EQ(death.by, Killer::sender);
  EXPECT_EQ(death.sender, 77);
  EXPECT_EQ(death.sender_name, "bash");
  // A shell's status says the same.
  clues.ending = {143, {}};
  EXPECT_EQ(death_of(clues).by, Killer::sender);
  clues.ending = {0, {}};
  EXPECT_FALSE(cause_of_death(clues)) << "it ended in order";
  clues.ending = {{}, SIGKILL};
  EXPECT_EQ(death_of(clues).by, Killer::unknown) << "that was another signal";
  clues.ending = {{}, SIGTERM};
  clues.sent->by_terminal = true;
  EXPECT_EQ(death_of(clues).by, Killer::terminal);
}

TEST(CauseOfDeath, IsEbbWhereItStoppedTheJobUnlessTheKernelWasFaster) {
  DeathClues clues = clues_of(CgroupVersion::v2, SIGTERM, {});
  clues.stopped = true;
  clues.after.levels[0].killed = 1;
  clues.after.levels[0].full = 1;
  EXPECT_EQ(death_of(clues).by, Killer::ebb);
  clues.ending.signal = SIGKILL;
  EXPECT_EQ(death_of(clues).by, Killer::cgroup);
  clues.killed_by_us = true;
  EXPECT_EQ(death_of(clues).by, Killer::ebb);
}

TEST(CauseOfDeath, IsNobodyForAJobThatEndedByItself) {
  EXPECT_FALSE(cause_of_death(clues_of(CgroupVersion::v2, {}, 0)));
  EXPECT_FALSE(cause_of_death(clues_of(CgroupVersion::v2, {}, 3)));
  for (const int fault : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGPIPE})
    EXPECT_FALSE(cause_of_death(clues_of(CgroupVersion::v2, fault, {})));
}

}  // namespace
}  // namespace ebb::run
