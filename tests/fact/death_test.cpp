// SPDX-License-Identifier: Apache-2.0
#include "fact/death.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace ebb::fact {
namespace {

Death full_group() {
  Death death;
  death.by = Killer::cgroup;
  death.seconds = 12.5;
  death.signal = SIGKILL;
  death.pid = 4242;
  death.process = "python3";
  death.group = "/jobs/a";
  death.level = 0;
  death.limit = 256U << 20;
  death.reached = 255U << 20;
  death.findings = {"the kernel's log has it"};
  return death;
}

TEST(Death, IsToldInOneSentence) {
  Death death = full_group();
  EXPECT_EQ(text_of(death),
            "the kernel killed it, since its control group /jobs/a was full (limit 256.0 MiB)");
  death.level = 2;
  death.group = "/jobs";
  death.of_command = false;
  EXPECT_EQ(text_of(death),
            "the kernel killed process 4242 (python3) of the job, since the control group /jobs, "
            "2 levels above its own, was full (limit 256.0 MiB)");
  death.group = "";
  death.pid.reset();
  death.limit.reset();
  EXPECT_EQ(text_of(death),
            "the kernel killed a process (python3) of the job, since a control group that cannot "
            "be seen from here was full");
  death = {};
  death.by = Killer::machine;
  EXPECT_EQ(text_of(death), "the kernel killed it, since the memory of the machine was full");
  death.by = Killer::systemd_oomd;
  death.group = "/user.slice/job.scope";
  EXPECT_EQ(text_of(death), "systemd-oomd killed its control group /user.slice/job.scope");
  death.by = Killer::rlimit_as;
  death.limit = 512U << 20;
  death.reached = 510U << 20;
  EXPECT_EQ(text_of(death),
            "an allocation failed at the limit of its address space (RLIMIT_AS 512.0 MiB, of which "
            "510.0 MiB were used)");
  death = {};
  death.by = Killer::rlimit_cpu;
  death.signal = SIGXCPU;
  death.limit_seconds = 2;
  death.used_seconds = 2.01;
  EXPECT_EQ(
      text_of(death),
      "the kernel sent SIGXCPU: its time on processors was up (RLIMIT_CPU 2.0 s, used 2.0 s)");
}

TEST(Death, NamesWhoSentASignal) {
  Death death;
  death.signal = SIGKILL;
  EXPECT_EQ(text_of(death), "SIGKILL from outside, sender not known");
  death.by = Killer::sender;
  death.signal = SIGTERM;
  EXPECT_EQ(text_of(death), "SIGTERM from a process outside of this pid namespace");
  death.sender = 17;
  EXPECT_EQ(text_of(death), "SIGTERM from process 17 (gone before its name could be read)");
  death.sender_name = "bash";
  EXPECT_EQ(text_of(death), "SIGTERM from process 17 (bash)");
  death.by = Killer::terminal;
  death.signal = SIGINT;
  EXPECT_EQ(text_of(death), "SIGINT from the terminal");
}

TEST(Death, SurvivesItsJson) {
  for (int by = 0; by <= static_cast<int>(Killer::ebb); ++by) {
    Death death = full_group();
    death.by = static_cast<Killer>(by);
    EXPECT_EQ(killer_from(name_of(death.by)), death.by);
    if (death.by == Killer::sender) {
      death.sender = 1;
      death.sender_name = "systemd";
      death.sender_user = 0;
    }
    death.limit_seconds = 3;
    death.memory.usage = 255U << 20;
    death.memory.anon = 250U << 20;
    const auto text = base::parse_json(to_json(death).text());
    ASSERT_TRUE(text);
    const auto read = death_from(*text);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, death);
  }
}

TEST(Death, WhatIsNoneIsNotRead) {
  EXPECT_FALSE(death_from(base::Json()));
  EXPECT_FALSE(death_from(base::Json::object({{"by", 7}})));
  const auto later = death_from(base::Json::object(
      {{"by", "a newer cause"}, {"pid", std::uint64_t{1} << 40}, {"level", -1}, {"signal", "x"}}));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->by, Killer::unknown);
  EXPECT_FALSE(later->pid);
  EXPECT_FALSE(later->level);
  EXPECT_FALSE(later->signal);
}

}  // namespace
}  // namespace ebb::fact
