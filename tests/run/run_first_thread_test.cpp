// SPDX-License-Identifier: Apache-2.0
// Jobs whose first thread ends while others work on: for the kernel's files they are zombies.
#include "run/run_fixture.h"
#include "sense/process.h"

namespace ebb::run {
namespace {

using base::kMiB;
using support::Finished;
using support::Subprocess;

constexpr std::uint64_t kHeld = 64 * kMiB;

class EbbRunWithoutItsFirstThread : public EbbRun {
 protected:
  Words job(const char* how = "works") const { return {EBB_FIRST_THREAD_ENDS, stop_file(), how}; }

  static bool holds(const record::Reading& reading) {
    return reading.rss && reading.rss->high >= kHeld;
  }

  /// Samples of what it holds once only its other thread is there.
  static std::size_t samples_of(const record::RecordedRun& run) {
    std::size_t count = 0;
    for (const record::ProcessHistory& one : run.processes)
      for (const record::Reading& reading : one.readings)
        if (holds(reading)) ++count;
    return count;
  }
};

TEST_F(EbbRunWithoutItsFirstThread, IsSampledWithItsHeapAndItsMachineUntilItsEnd) {
  const Finished done = run_until({"--interval", "20ms"}, job(),
                                  [](const auto& so_far) { return samples_of(so_far) >= 20; });
  EXPECT_EQ(done.status, 7) << done.error;
  const record::RecordedRun run = last();
  EXPECT_EQ(run.summary.run.exit_code, 7);
  ASSERT_EQ(run.processes.size(), 1U);
  EXPECT_GE(samples_of(run), 20U);
  EXPECT_GE(run.place.size(), 20U) << "how full the machine was";
  std::uint64_t live = 0;
  std::uint64_t retained_known = 0;
  for (const record::Reading& reading : run.processes.front().readings) {
    if (!holds(reading)) continue;
    if (reading.live) live = std::max(live, reading.live->high);
    if (reading.retained) ++retained_known;
  }
  EXPECT_GE(live, kHeld) << "its agent answers";
  EXPECT_GT(retained_known, 0U);
  EXPECT_NE(run.processes.front().process.command.find("first_thread_ends"), std::string::npos);
}

TEST_F(EbbRunWithoutItsFirstThread, IsStoppedWhereMemoryStaysCritical) {
  const Words options = {"--interval", "50ms",          "--warn", "0.01",    "--critical",
                         "0.02",       "--on-critical", "stop",   "--grace", "1s"};
  EXPECT_EQ(run(options, job()).status, -SIGTERM);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::stopped);
  EXPECT_TRUE(has_event(last(), "critical"));
  // TERM does not end this one, not even before it says so.
  EXPECT_EQ(support::run(with_term_blocked(command(options, job("ignores")))).status, -SIGKILL);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::stopped);
}

TEST_F(EbbRunWithoutItsFirstThread, IsWaitedForWithAllOthers) {
  Subprocess child(command({"--interval", "50ms", "--wait-all"}, job("leaves")));
  const std::string ready = child.read_line();
  ASSERT_TRUE(ready.starts_with("ready ")) << ready;
  const pid_t left = std::stoi(ready.substr(6));
  wait_until([&] { return samples_of(so_far()) >= 5; });
  EXPECT_FALSE(so_far().summary.run.ended) << "the command has ended, what it started has not";
  folder_.write("stop", "");
  const Finished done = support::finished(child);
  EXPECT_EQ(done.status, 6) << done.error;
  EXPECT_FALSE(sense::read_process(left));
}

TEST_F(EbbRunWithoutItsFirstThread, IsCountedAmongThoseThatGoOn) {
  Subprocess child(command({"--interval", "50ms"}, job("leaves")));
  // It has its first thread no more by the time the command ends, or soon after.
  const std::string ready = child.read_line();
  ASSERT_TRUE(ready.starts_with("ready ")) << ready;
  EXPECT_EQ(child.wait(), 6);
  const pid_t left = std::stoi(ready.substr(6));
  EXPECT_TRUE(sense::read_process(left));
  folder_.write("stop", "");
  wait_until([&] { return !sense::read_process(left); });
}

TEST_F(EbbRunWithoutItsFirstThread, IsToldByInfoAndWatch) {
  Subprocess job_alone(job());
  ASSERT_TRUE(job_alone.read_line().starts_with("ready "));
  const std::string pid = std::to_string(job_alone.pid());
  const Finished info = support::run({EBB_PROGRAM, "info", pid, "--json"});
  EXPECT_EQ(info.status, 0) << info.error;
  EXPECT_NE(info.output.find("\"pid\": " + pid), std::string::npos) << info.output;
  EXPECT_NE(info.output.find("\"allocator\": \"glibc\""), std::string::npos) << info.output;
  const Finished watch =
      support::run({EBB_PROGRAM, "watch", pid, "--interval", "10ms", "--for", "50ms"});
  EXPECT_EQ(watch.status, 0) << watch.error;
  EXPECT_EQ(watch.output.find("has ended"), std::string::npos) << watch.output;
  folder_.write("stop", "");
  EXPECT_EQ(job_alone.wait(), 7);
}

}  // namespace
}  // namespace ebb::run
