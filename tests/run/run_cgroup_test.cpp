// SPDX-License-Identifier: Apache-2.0
// ebb run in a control group of 512 MiB, where groups can be made.
#include "run/limited_group.h"
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;

class EbbRunInAGroup : public EbbRun {
 protected:
  LimitedGroup group_{"536870912"};
};

TEST_F(EbbRunInAGroup, AJobThatWouldBeKilledSurvivesWhenItsMemoryWasRetention) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  ASSERT_EQ(support::run(group_.inside({EBB_JOB, "0", "squeeze"})).status, -SIGKILL)
      << "without ebb run";
  const Finished done =
      run_until(group_.inside(command({"--interval", "100ms"},
                                      {EBB_JOB, "60", "squeeze", "until", stop_file()})),
                [&](const record::RecordedRun& run) { return has_event(run, "warn"); });
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "survived\n") << "it had no room without a cleanup";
  EXPECT_NE(done.error.find("of 512.0 MiB (cgroup)"), std::string::npos) << done.error;
  EXPECT_TRUE(has_event(last(), "warn"));
}

TEST_F(EbbRunInAGroup, TheJobsPeakIsThatOfItsOwnGroup) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  // 200 MiB for a moment, of which no sample need know.
  const Words job = {"/usr/bin/python3", "-c", "x = bytearray(200 << 20)"};
  const Finished inside = support::run(group_.inside(command({}, job)));
  EXPECT_EQ(inside.status, 0) << inside.error;
  const record::RecordedRun own = last();
  ASSERT_TRUE(own.summary.run.peak_group);
  EXPECT_GE(*own.summary.run.peak_group, 200U << 20);
  EXPECT_LT(*own.summary.run.peak_group, 512U << 20);
  EXPECT_NE(inside.error.find(", peak 2"), std::string::npos) << inside.error;
  EXPECT_GE(own.processes.at(0).process.peak_rss.value_or(0), 200U << 20)
      << "the kernel's last word when it ended";
  EXPECT_GE(own.summary.peak_process_rss, 200U << 20);
}

TEST_F(EbbRunInAGroup, APeakOfAGroupWithOthersIsNotTheJobs) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  support::Subprocess other(group_.inside({"sh", "-c", "echo inside; exec sleep 1000"}));
  ASSERT_EQ(other.read_line(), "inside");
  const Finished done = support::run(
      group_.inside(command({}, {"/usr/bin/python3", "-c", "x = bytearray(1 << 20)"})));
  kill(other.pid(), SIGKILL);
  other.wait();
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_FALSE(last().summary.run.peak_group);
  EXPECT_NE(done.error.find(", peak at least "), std::string::npos) << done.error;
}

TEST_F(EbbRunInAGroup, SaysThatItWasTheKernelWhoKilledTheJob) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const Finished done = support::run(
      group_.inside(command({"--observe", "--interval", "100ms"}, {EBB_JOB, "0", "squeeze"})));
  EXPECT_EQ(done.status, -SIGKILL);
  EXPECT_NE(done.error.find("the kernel killed it, since its control group "), std::string::npos)
      << done.error;
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::out_of_memory);
  EXPECT_TRUE(has_event(last(), "oom_kill"));
}

TEST_F(EbbRunInAGroup, StopsAJobBeforeTheKernelKillsIt) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const Finished done = support::run(group_.inside(command(
      {"--interval", "100ms", "--critical", "70", "--warn", "60", "--on-critical", "stop"},
      {"/usr/bin/python3", "-c",
       // At once close to the level, then slowly: a machine that stands still must not decide.
       "import time\nkept = [bytearray(300 << 20)]\nwhile True:\n"
       "  kept.append(bytearray(1 << 20)); time.sleep(0.1)\n"})));
  EXPECT_EQ(done.status, -SIGTERM) << done.error;
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::stopped);
  EXPECT_FALSE(has_event(last(), "oom_kill"));
}

}  // namespace
}  // namespace ebb::run
