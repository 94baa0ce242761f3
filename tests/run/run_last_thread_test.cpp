// SPDX-License-Identifier: Apache-2.0
// Jobs whose first thread ends before others: they end as they would without Ebb, whose threads
// there are beside theirs.
#include <sys/stat.h>

#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;
using support::Subprocess;

class EbbRunUntilItsLastThread : public EbbRun {
 protected:
  /// One that never ends is killed after a while, and so fails the test.
  static Words limited(const Words& whole_command) {
    Words words = {"timeout", "-s", "KILL", "600"};
    words.insert(words.end(), whole_command.begin(), whole_command.end());
    return words;
  }

  Finished finished(const Words& whole_command, int signal,
                    const Subprocess::Environment& extra = {}) const {
    std::filesystem::remove(stop_file());
    Subprocess child(limited(whole_command), extra);
    const std::string ready = child.read_line();
    EXPECT_TRUE(ready.starts_with("ready ")) << ready;
    // In time for the agent to be there, as it is in a job that lasts.
    if (whole_command.front() == EBB_PROGRAM)
      wait_until([&] { return !so_far().processes.empty(); });
    if (ready.starts_with("ready ") && signal != 0) kill(std::stoi(ready.substr(6)), signal);
    folder_.write("stop", "");
    return support::finished(child);
  }

  /// The same status and the same output, with `options` as without Ebb.
  void expect_as_without(const std::string& how, const Words& options = {}, int signal = 0,
                         const char* program = EBB_LAST_THREAD,
                         const Subprocess::Environment& extra = {}) const {
    SCOPED_TRACE(how + (options.empty() ? "" : " " + options.front()));
    const Words job = {program, how, stop_file()};
    const Finished alone = finished(job, signal, extra);
    const Finished managed = finished(command(options, job), signal, extra);
    EXPECT_EQ(managed.status, alone.status) << managed.error;
    EXPECT_EQ(managed.output, alone.output);
  }
};

TEST_F(EbbRunUntilItsLastThread, EndsAsWithoutEbb) {
  for (const char* how : {"returns", "exits", "ends", "several", "joins", "blocks", "forks"})
    expect_as_without(how);
}

TEST_F(EbbRunUntilItsLastThread, EndsAsWithoutEbbWhereTheCLibraryDoesNotKnow) {
  expect_as_without("leaves");
}

TEST_F(EbbRunUntilItsLastThread, IsEndedBySignalsAsWithoutEbb) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1})
    expect_as_without("waits", {}, signal);
}

TEST_F(EbbRunUntilItsLastThread, EndsAsWithoutEbbWhereItsSitesAreSampled) {
  expect_as_without("returns", {"--sites"});
}

TEST_F(EbbRunUntilItsLastThread, EndsAsWithoutEbbWhereItUsesLibebb) {
  expect_as_without("returns", {}, 0, EBB_LAST_THREAD_EBB);
  expect_as_without("ends", {}, 0, EBB_LAST_THREAD_EBB);
}

TEST_F(EbbRunUntilItsLastThread, IsNotKeptByAWatchOfPressure) {
  const std::string asks = folder_ / "asks";
  ASSERT_EQ(mkfifo(asks.c_str(), 0600), 0);
  const Words job = {EBB_LAST_THREAD_EBB, "returns", stop_file()};
  const Finished done = finished(command({}, job), 0, {{"MEMORY_PRESSURE_WATCH", asks}});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "goodbye\n");
}

/// Nor by the thread that the start-up hook has in Python.
TEST_F(EbbRunUntilItsLastThread, IsNotKeptByTheHookOfPython) {
  const std::string script = folder_ / "job.py";
  folder_.write("job.py",
                "import ctypes, os, sys, threading, time\n"
                "def work():\n"
                "    print('ready', os.getpid(), flush=True)\n"
                "    while not os.path.exists(sys.argv[1]):\n"
                "        time.sleep(0.01)\n"
                "    print('goodbye', flush=True)\n"
                "threading.Thread(target=work).start()\n"
                "ctypes.CDLL(None).pthread_exit(None)\n");
  const Words job = {"/usr/bin/python3", script, stop_file()};
  const Finished alone = finished(job, 0);
  const Finished managed = finished(command({}, job), 0);
  EXPECT_EQ(managed.status, alone.status) << managed.error;
  EXPECT_EQ(managed.output, alone.output);
  EXPECT_EQ(managed.output, "goodbye\n");
}

}  // namespace
}  // namespace ebb::run
