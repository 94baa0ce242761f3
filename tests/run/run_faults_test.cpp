// SPDX-License-Identifier: Apache-2.0
// ebb run when things go wrong: the job's own result is never changed, and the record stays
// readable.
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "run/run_fixture.h"
#include "sense/process_tree.h"

namespace ebb::run {
namespace {

using support::Finished;
using support::Subprocess;

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

TEST_F(EbbRun, CommandsThatCannotBeRunEndAsInAShell) {
  EXPECT_EQ(run({}, {"no-such-command"}).status, 127);
  EXPECT_EQ(last().summary.run.exit_code, 127);
  EXPECT_EQ(run({}, {folder_.write("text", "hello")}).status, 126);
  const Finished done = run({}, {"/"});
  EXPECT_EQ(done.status, 126);
  EXPECT_NE(done.error.find("ebb: cannot run /"), std::string::npos) << done.error;
}

TEST_F(EbbRun, RunsTheJobWithoutAHomeAndSaysThatNothingIsRecorded) {
  const Subprocess::Environment homeless{{"HOME", ""}, {"XDG_STATE_HOME", ""}};
  const Finished done =
      support::run({EBB_PROGRAM, "run", "--", "sh", "-c", "echo here; exit 6"}, homeless);
  EXPECT_EQ(done.status, 6) << done.error;
  EXPECT_EQ(done.output, "here\n");
  EXPECT_TRUE(done.error.starts_with("ebb: nothing is recorded: no place")) << done.error;
  EXPECT_EQ(done.error.find("ebb report"), std::string::npos) << done.error;
  const Finished dry = support::run({EBB_PROGRAM, "run", "--dry-run", "--", "true"}, homeless);
  EXPECT_EQ(dry.status, 0) << dry.error;
  EXPECT_NE(dry.output.find("record    none"), std::string::npos) << dry.output;
}

TEST_F(EbbRun, TheCommandsSignalIsItsOwn) {
  EXPECT_EQ(run({}, {"sh", "-c", "kill -SEGV $$"}).status, -SIGSEGV);
  EXPECT_EQ(last().summary.run.signal, SIGSEGV);
  EXPECT_EQ(run({}, {"sh", "-c", "kill -KILL $$"}).status, -SIGKILL);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::signal) << "and nobody says it was the kernel";
}

TEST_F(EbbRun, SignalsArePassedOn) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    Subprocess child(
        command({"--quiet"}, {"sh", "-c",
                              "trap 'echo caught; exit 5' TERM INT HUP USR1; echo ready; "
                              "while true; do sleep 0.05; done"}));
    ASSERT_EQ(child.read_line(), "ready");
    kill(child.pid(), number);
    EXPECT_EQ(child.read_line(), "caught") << number;
    EXPECT_EQ(child.wait(), 5) << number;
  }
}

/// For a shell: waits for `go`, two minutes at most, then makes `done`.
std::string when_told(const std::string& go, const std::string& done) {
  return "i=0; while [ ! -e " + go + " ] && [ $i -lt 2400 ]; do sleep 0.05; i=$((i+1)); done; " +
         "echo fine > " + done;
}

TEST_F(EbbRun, AKilledSupervisorLeavesTheJobToItself) {
  const std::string done = folder_ / "done";
  Subprocess child(command({"--interval", "50ms"},
                           {"sh", "-c", "echo ready; " + when_told(folder_ / "go", done)}));
  ASSERT_EQ(child.read_line(), "ready");
  std::size_t written = 0;
  wait_until([&] {
    const record::RecordedRun so_far = last();
    written = so_far.processes.empty() ? 0 : so_far.processes.front().readings.size();
    return written >= 5;
  });
  kill(child.pid(), SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_FALSE(exists(done));
  folder_.write("go", "");
  wait_until([&] { return exists(done); });
  const record::RecordedRun recorded = last();
  EXPECT_FALSE(recorded.summary.run.ended);
  EXPECT_EQ(recorded.summary.state, record::State::lost);
  ASSERT_FALSE(recorded.processes.empty());
  EXPECT_GE(recorded.processes.front().readings.size(), written) << "what was written stays";
  const Finished list = support::run({EBB_PROGRAM, "runs", "--db", db()});
  EXPECT_NE(list.output.find("cut short: ebb was killed"), std::string::npos) << list.output;
  const Finished report = support::run({EBB_PROGRAM, "report", "last", "--db", db()});
  EXPECT_NE(report.output.find("cut short after "), std::string::npos) << report.output;
}

TEST_F(EbbRun, WithFewDescriptorsTheCommandRunsAndTheRecordSaysNothingElse) {
  for (int descriptors = 4; descriptors <= 20; ++descriptors) {
    // Whoever started this test may have left some open.
    Words words = {"sh", "-c",
                   "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; ulimit -n " +
                       std::to_string(descriptors) + "; exec \"$@\"",
                   "sh"};
    for (const std::string& word : command({}, {"sh", "-c", "echo out; exit 3"}))
      words.push_back(word);
    const Finished done = support::run(words);
    EXPECT_EQ(done.status, 3) << descriptors << ": " << done.error;
    EXPECT_EQ(done.output, "out\n") << descriptors << ": " << done.error;
  }
  auto store = record::Store::open(db());
  ASSERT_TRUE(store) << store.error().message;
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  EXPECT_FALSE(runs->empty());
  for (const record::RunSummary& one : *runs)
    EXPECT_EQ(one.state, record::State::ended) << one.run.id;
}

TEST_F(EbbRun, AJobThatIsKilledTakesNothingWithIt) {
  Subprocess child(command({"--interval", "50ms"}, {EBB_JOB, "600", "workers"}));
  std::vector<pid_t> all;
  wait_until([&] {
    all = sense::descendants_of(child.pid()).value_or({});
    return all.size() == 4;
  });
  wait_until([&] { return so_far().processes.size() == 4; });
  const pid_t worker = all.back();
  kill(worker, SIGKILL);
  wait_until([&] {
    for (const record::ProcessHistory& one : so_far().processes)
      if (one.process.pid == worker && one.process.ended) return true;
    return false;
  });
  EXPECT_EQ(kill(child.pid(), 0), 0);
  for (const pid_t pid : all)
    kill(pid, SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL) << child.read_rest_of_error();
  EXPECT_EQ(last().summary.run.signal, SIGKILL);
  EXPECT_EQ(last().processes.size(), 4U);
}

TEST_F(EbbRun, AThousandShortLivedChildrenAreNoTrouble) {
  const Finished done =
      run({"--quiet", "--interval", "20ms"},
          {"sh", "-c", "i=0; while [ $i -lt 1000 ]; do /bin/true || exit 1; i=$((i+1)); done"});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.error, "");
}

TEST_F(EbbRun, ADaemonGoesOnAsItWould) {
  const std::string done = folder_ / "done";
  const Finished finished = run(
      {},
      {"sh", "-c", "(setsid sh -c '" + when_told(folder_ / "go", done) + "' >&- 2>&- &) ; exit 6"});
  EXPECT_EQ(finished.status, 6);
  EXPECT_NE(finished.error.find("no longer managed"), std::string::npos) << finished.error;
  EXPECT_FALSE(exists(done)) << "nobody waited for it";
  folder_.write("go", "");
  wait_until([&] { return exists(done); });
}

/// As Python's resource trackers: a child that ends soon after its parent has. On a busy machine
/// that may take longer than `ebb run` looks.
TEST_F(EbbRun, WhatEndsWithTheCommandIsNotSaidToGoOn) {
  const std::string job = "mkfifo \"$1\"; (read x; sleep 0.05) <\"$1\" >&- 2>&- & exec 3>\"$1\"";
  std::string said;
  for (int trial = 0; trial < 20; ++trial) {
    const std::string pipe = folder_ / ("pipe-" + std::to_string(trial));
    const Finished done = run({}, {"sh", "-c", job, "sh", pipe});
    ASSERT_EQ(done.status, 0) << done.error;
    said = done.error;
    if (said.find("no longer managed") == std::string::npos) return;
  }
  ADD_FAILURE() << said;
}

TEST_F(EbbRun, ADaemonIsSupervisedToItsEndWhereAsked) {
  const std::string done = folder_ / "done";
  const Finished finished =
      run({"--wait-all", "--interval", "50ms"},
          {"sh", "-c", "(setsid sh -c 'sleep 1; echo fine > " + done + "' >&- 2>&- &) ; exit 6"});
  EXPECT_EQ(finished.status, 6);
  EXPECT_TRUE(exists(done));
}

TEST_F(EbbRun, AJobThatClosesAllDescriptorsFindsNothingInItsFiles) {
  const Finished done = run({"--interval", "20ms"}, {EBB_CLOSES_ALL, folder_ / "file"});
  EXPECT_EQ(done.status, 0) << "bytes that are not the job's; " << done.error;
  EXPECT_EQ(last().summary.run.exit_code, 0);
}

TEST_F(EbbRun, ARecordThatCannotBeMadeCostsOnlyTheRecord) {
  const std::string file = folder_.write("file", "");
  const Finished done = support::run(
      {EBB_PROGRAM, "run", "--db", file + "/runs.db", "--", "sh", "-c", "echo here; exit 2"});
  EXPECT_EQ(done.status, 2);
  EXPECT_EQ(done.output, "here\n");
  EXPECT_NE(done.error.find("nothing is recorded"), std::string::npos) << done.error;
}

TEST_F(EbbRun, AFileThatIsNoRecordIsLeftAsItIs) {
  const std::string file = folder_.write("notes.txt", "my notes, no database at all\n");
  const Finished done = support::run({EBB_PROGRAM, "run", "--db", file, "--", "true"});
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.error.find("nothing is recorded"), std::string::npos) << done.error;
  EXPECT_EQ(base::read_file(file).value_or(""), "my notes, no database at all\n");
}

TEST_F(EbbRun, AFullDiskCostsOnlyTheRecord) {
  // Empty tables fit into a file of 160 KiB, what is recorded soon does not: what the kernel
  // answers is what a full disk answers.
  const std::string said = folder_ / "said";
  Subprocess child({"sh", "-c",
                    "ulimit -f 320; exec \"$0\" run --interval 10ms --db \"$1\" -- sh -c \"$2\" "
                    "2> \"$3\"",
                    EBB_PROGRAM, db(), when_told(folder_ / "go", folder_ / "done") + "; exit 8",
                    said});
  const auto has_said = [&](const char* what) {
    return base::read_file(said).value_or("").find(what) != std::string::npos;
  };
  wait_until([&] { return has_said("ebb: not recorded for now: "); });
  folder_.write("go", "");
  EXPECT_EQ(child.wait(), 8);
  EXPECT_TRUE(exists(folder_ / "done"));
}

TEST_F(EbbRun, ALockedRecordCostsNobodyTime) {
  ASSERT_EQ(run({"--quiet"}, {"true"}).status, 0);
  // Another program holds the database for longer than the job runs.
  Subprocess holder({"/usr/bin/python3", "-c",
                     "import sqlite3, sys\n"
                     "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
                     "c.execute('BEGIN EXCLUSIVE')\n"
                     "print('held', flush=True)\n"
                     "sys.stdin.read()\n",
                     db()});
  ASSERT_EQ(holder.read_line(), "held");
  EXPECT_EQ(run({"--interval", "50ms"}, {"sh", "-c", "sleep 0.5; exit 9"}).status, 9);
  holder.close_input();
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_EQ(run({"--quiet"}, {"true"}).status, 0);
  EXPECT_EQ(last().summary.run.exit_code, 0);
}

TEST_F(EbbRun, LeavesNoSocketBehindHoweverTheCommandEnds) {
  const std::string runtime = folder_ / "runtime";
  std::filesystem::create_directory(runtime);
  for (const char* end : {"exit 5", "kill -TERM $$", "kill -KILL $$", "kill -SEGV $$"}) {
    const Finished done = run(
        {"--quiet"}, {"sh", "-c", "test -S \"$EBB_SOCKET\" && echo connected; " + std::string(end)},
        {{"XDG_RUNTIME_DIR", runtime}});
    EXPECT_EQ(done.output, "connected\n");
    EXPECT_NE(done.status, 0);
    EXPECT_TRUE(std::filesystem::is_empty(runtime)) << end;
  }
  EXPECT_EQ(run({"--quiet"}, {"no-such-command"}, {{"XDG_RUNTIME_DIR", runtime}}).status, 127);
  EXPECT_TRUE(std::filesystem::is_empty(runtime));
}

TEST_F(EbbRun, WhatAKilledSupervisorLeavesIsSweptByTheNext) {
  const std::string runtime = folder_ / "runtime";
  std::filesystem::create_directory(runtime);
  const support::Subprocess::Environment place = {{"XDG_RUNTIME_DIR", runtime}};
  const std::string job = "echo ready; while [ ! -e " + stop_file() + " ]; do sleep 0.05; done";
  Subprocess killed(command({"--quiet"}, {"sh", "-c", job}), place);
  Subprocess running(command({"--quiet"}, {"sh", "-c", job}), place);
  ASSERT_EQ(killed.read_line(), "ready");
  ASSERT_EQ(running.read_line(), "ready");
  const auto folders = [&] {
    const std::filesystem::directory_iterator all(runtime);
    return std::distance(begin(all), end(all));
  };
  EXPECT_EQ(folders(), 2);
  kill(killed.pid(), SIGKILL);
  killed.wait();
  EXPECT_EQ(run({"--quiet"}, {"true"}, place).status, 0);
  EXPECT_EQ(folders(), 1) << "that of the one that runs";
  folder_.write("stop", "");
  EXPECT_EQ(running.wait(), 0);
  EXPECT_EQ(folders(), 0);
}

}  // namespace
}  // namespace ebb::run
