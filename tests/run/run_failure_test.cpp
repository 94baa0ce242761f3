// SPDX-License-Identifier: Apache-2.0
// ebb run where the supervisor itself fails: the job is served.
#include "run/run_fixture.h"
#include "sense/process.h"

namespace ebb::run {
namespace {

using support::Finished;
using support::Subprocess;

bool is_there(const std::string& path) {
  return std::filesystem::exists(path);
}

class EbbRunThatFails : public EbbRun {
 protected:
  support::Subprocess::Environment with_fault() const {
    return {{"LD_PRELOAD", EBB_FAULT}, {"EBB_TEST_FAULT", folder_ / "fault"}};
  }
  /// For a shell: the supervisor's next call throws.
  std::string break_supervisor() const {
    return "echo throw > " + (folder_ / "coming") + "; mv " + (folder_ / "coming") + " " +
           (folder_ / "fault") + "; while [ -e " + (folder_ / "fault") +
           " ]; do sleep 0.02; done; ";
  }
};

constexpr const char* kGoesOn = "ebb: a fault of the test's: the job goes on, no longer managed\n";

TEST_F(EbbRunThatFails, SignalsAndTheStatusArePassedOnFromThenOn) {
  const std::string job = "trap 'echo caught; exit 5' USR1; " + break_supervisor() +
                          "echo ready; while true; do sleep 0.02; done";
  Subprocess child(command({"--interval", "50ms"}, {"sh", "-c", job}), with_fault());
  ASSERT_EQ(child.read_line(), "ready");
  kill(child.pid(), SIGUSR1);
  EXPECT_EQ(child.read_line(), "caught");
  const Finished done = support::finished(child);
  EXPECT_EQ(done.status, 5);
  EXPECT_NE(done.error.find(kGoesOn), std::string::npos) << done.error;
  EXPECT_EQ(so_far().summary.state, record::State::lost);
}

TEST_F(EbbRunThatFails, AStopThatWasUnderWayComesToItsEnd) {
  // Told to end, the job breaks the supervisor, and neither it nor its child ends.
  const std::string job =
      folder_.write("job.py",
                    "import os, signal, sys, time\n"
                    "child = os.fork()\n"
                    "while child == 0: time.sleep(0.05)\n"
                    "print(child, flush=True)\n"
                    "def told(*_):\n"
                    "  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"  // nor does its shell
                    "  os.system(sys.argv[1])\n"
                    "signal.signal(signal.SIGTERM, told)\n"
                    "signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])\n"
                    "while True: time.sleep(0.02)\n");
  Finished done;
  pid_t left = 0;
  const auto has_failed = [&] { return done.error.find(kGoesOn) != std::string::npos; };
  // Where it was killed before it got that far, as on a busy machine, it gets more time.
  for (int grace = 1; grace <= 64 && !has_failed(); grace *= 2) {
    const Words options = {
        "--interval", "50ms",          "--warn", "0.01",    "--critical",
        "0.02",       "--on-critical", "stop",   "--grace", std::to_string(grace) + "s"};
    std::filesystem::remove(folder_ / "fault");
    Subprocess child(
        with_term_blocked(command(options, {"/usr/bin/python3", job, break_supervisor()})),
        with_fault());
    left = std::atoi(child.read_line().c_str());
    done = support::finished(child);
    EXPECT_EQ(done.status, -SIGKILL);
  }
  EXPECT_TRUE(has_failed()) << done.error;
  EXPECT_FALSE(sense::read_process(left));
}

TEST_F(EbbRunThatFails, AllAreWaitedForWhereAsked) {
  const std::string job = "(" + break_supervisor() + "echo told; while [ ! -e " + stop_file() +
                          " ]; do sleep 0.05; done; echo fine > " + (folder_ / "done") +
                          ") & exit 6";
  Subprocess child(command({"--interval", "50ms", "--wait-all"}, {"sh", "-c", job}), with_fault());
  ASSERT_EQ(child.read_line(), "told");
  folder_.write("stop", "");
  const Finished done = support::finished(child);
  EXPECT_EQ(done.status, 6);
  EXPECT_TRUE(is_there(folder_ / "done"));
  EXPECT_NE(done.error.find(kGoesOn), std::string::npos) << done.error;
}

TEST_F(EbbRunThatFails, ATrialOfTuneIsWaitedForToo) {
  const std::string job = "trap 'echo told > " + (folder_ / "told") + "; exit 3' TERM; " +
                          break_supervisor() + "echo up > " + (folder_ / "up") +
                          "; while true; do sleep 0.02; done";
  Subprocess child({EBB_PROGRAM, "tune", "--interval", "20ms", "--", "sh", "-c", job},
                   with_fault());
  wait_until([&] { return is_there(folder_ / "up"); });
  kill(child.pid(), SIGTERM);
  const Finished done = support::finished(child);
  EXPECT_TRUE(is_there(folder_ / "told"));
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.error.find("the command ended with status 3"), std::string::npos) << done.error;
}

TEST_F(EbbRunThatFails, ATrialThatCouldNotBeMeasuredIsNone) {
  const Finished done = support::run(
      {EBB_PROGRAM, "tune", "--interval", "20ms", "--", "sh", "-c", break_supervisor() + "exit 0"},
      with_fault());
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.output, "");
  EXPECT_EQ(done.error, "ebb: a fault of the test's: the trial could not be measured\n");
}

}  // namespace
}  // namespace ebb::run
