// SPDX-License-Identifier: Apache-2.0
// ebb run and signals: what somebody sends reaches the command, and job control works as in a shell
// without Ebb.
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "run/run_fixture.h"
#include "sense/process.h"
#include "sense/process_tree.h"
#include "support/terminal.h"

namespace ebb::run {
namespace {

using support::Subprocess;
using support::Terminal;

constexpr const char* kCtrlZ = "\x1a";

bool is_made(const std::string& path) {
  return std::filesystem::exists(path);
}

/// A shell's word.
std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

char state_of(pid_t pid) {
  const auto reading = sense::read_process(pid);
  return reading ? reading->state : 'X';
}

/// It was sent to the process, which has not taken it yet.
bool is_pending(pid_t pid, int number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("ShdPnd:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (number - 1) & 1) != 0;
  }
  return false;
}

TEST_F(EbbRun, EverySignalThatSomebodySendsReachesTheCommand) {
  Subprocess child(command({"--quiet"}, {EBB_SIGNALS}));
  ASSERT_EQ(child.read_line(), "ready");
  for (int number = 1; number <= SIGRTMAX; ++number) {
    // Two cannot be caught, two are the C library's own; the last one ends it.
    if (number == SIGKILL || number == SIGSTOP || number == 32 || number == 33) continue;
    if (number == SIGTERM) continue;
    ASSERT_EQ(kill(child.pid(), number), 0);
    ASSERT_EQ(child.read_line(), std::to_string(number) + " 0");
  }
  sigval value{};
  for (value.sival_int = 1; value.sival_int <= 3; ++value.sival_int)
    ASSERT_EQ(sigqueue(child.pid(), SIGRTMIN + 3, value), 0);
  for (int i = 1; i <= 3; ++i)
    EXPECT_EQ(child.read_line(), std::to_string(SIGRTMIN + 3) + " " + std::to_string(i));
  kill(child.pid(), SIGTERM);
  EXPECT_EQ(child.read_line(), std::to_string(SIGTERM) + " 0");
  EXPECT_EQ(child.wait(), 7);
}

TEST_F(EbbRun, ACommandThatASignalEndsTakesTheSupervisorWithIt) {
  for (const int number : {SIGALRM, SIGXCPU, SIGSEGV, SIGRTMIN + 5}) {
    Subprocess child(command({"--quiet"}, {"sh", "-c", "echo ready; exec sleep 600"}));
    ASSERT_EQ(child.read_line(), "ready");
    kill(child.pid(), number);
    EXPECT_EQ(child.wait(), -number);
    EXPECT_EQ(last().summary.run.signal, number);
  }
}

TEST_F(EbbRun, AFaultOfTheSupervisorLeavesTheJobToItself) {
  const std::string job = "echo ready; while [ ! -e " + (folder_ / "go") +
                          " ]; do sleep 0.05; done; echo fine > " + (folder_ / "done");
  Subprocess child(command({"--interval", "50ms"}, {"sh", "-c", job}),
                   {{"LD_PRELOAD", EBB_FAULT}, {"EBB_TEST_FAULT", folder_ / "fault"}});
  ASSERT_EQ(child.read_line(), "ready");
  wait_until([&] { return !so_far().processes.empty(); });
  const pid_t job_pid = so_far().processes.front().process.pid;
  folder_.write("fault", "");
  EXPECT_EQ(child.wait(), -SIGSEGV);
  EXPECT_EQ(kill(job_pid, 0), 0) << "the kernel's signal was the supervisor's own";
  EXPECT_EQ(so_far().summary.state, record::State::lost);
  folder_.write("go", "");
  wait_until([&] { return is_made(folder_ / "done"); });
}

TEST_F(EbbRun, AnAlarmThatWasSetBeforeIsTheCommands) {
  Words words = {"/usr/bin/python3", "-c",
                 "import os, signal, sys\n"
                 "signal.setitimer(signal.ITIMER_REAL, 0.5)\n"
                 "os.execv(sys.argv[1], sys.argv[1:])"};
  for (const std::string& word : command({"--quiet"}, {"sh", "-c", "echo $$; exec sleep 600"}))
    words.push_back(word);
  Subprocess child(words);
  const std::string job = child.read_line();
  EXPECT_EQ(child.wait(), -SIGALRM);
  // A machine on which half a second was over before the job began shows nothing.
  if (job.empty()) return;
  EXPECT_NE(kill(std::stoi(job), 0), 0) << "the job was left alone";
}

TEST_F(EbbRun, ACommandWhoseParentIgnoresItsChildrenIsWaitedFor) {
  Words words = {"/usr/bin/python3", "-c",
                 "import os, signal, sys\n"
                 "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                 "os.execv(sys.argv[1], sys.argv[1:])"};
  for (const std::string& word :
       command({"--quiet"}, {"/usr/bin/python3", "-c",
                             "import signal, sys\n"
                             "sys.exit(signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN or 4)"}))
    words.push_back(word);
  EXPECT_EQ(support::run(words).status, 4) << "1: the command does not start as it would have";
}

TEST_F(EbbRun, SignalsReachWhatIsLeftOfTheJobToo) {
  // Up once the supervisor knows that the command has ended: what comes before is the command's.
  const std::string daemon = "trap \"echo > " + (folder_ / "caught") +
                             "; exit\" TERM; while kill -0 $COMMAND; do sleep 0.05; done; echo > " +
                             (folder_ / "up") + "; while true; do sleep 0.05; done";
  Subprocess child(
      command({"--quiet", "--wait-all", "--interval", "50ms"},
              {"sh", "-c", "COMMAND=$$ setsid sh -c '" + daemon + "' >&- 2>&- & exit 6"}));
  wait_until([&] { return is_made(folder_ / "up"); });
  kill(child.pid(), SIGTERM);
  wait_until([&] { return is_made(folder_ / "caught"); });
  EXPECT_EQ(child.wait(), 6);
}

/// `ebb run` as a job of an interactive shell. The job starts no processes: one that Ctrl-Z meets
/// between vfork and exec stops, and its parent, which waits for it, never does.
class EbbRunOnATerminal : public EbbRun {
 protected:
  EbbRunOnATerminal() {
    folder_.write("job.py",
                  "import os, signal, sys, time\n"
                  "signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b'resized\\n'))\n"
                  "signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'goes on\\n'))\n"
                  "os.write(1, b'ready\\n')\n"
                  "while not os.path.exists(sys.argv[1]): time.sleep(0.05)\n"
                  "os.write(1, b'over\\n')\n");
    // What the shell shows of a job has none of the words that the job prints.
    shell_.type("PS1=; cd /; " + quoted(EBB_PROGRAM) + " run --quiet --interval 50ms --db " +
                quoted(db()) + " -- /usr/bin/python3 " + quoted(folder_ / "job.py") + " " +
                quoted(stop_file()) + "\n");
    EXPECT_TRUE(shell_.shows("ready")) << shell_.unread();
    wait_until([&] {
      const record::RecordedRun run = so_far();
      if (!run.processes.empty()) command_ = run.processes.front().process.pid;
      return command_ != 0;
    });
    const auto reading = sense::read_process(command_);
    supervisor_ = reading ? reading->parent : 0;
  }

  bool both_are(char state) const {
    return state_of(supervisor_) == state && state_of(command_) == state;
  }
  bool both_run() const { return state_of(supervisor_) != 'T' && state_of(command_) != 'T'; }

  void end() {
    folder_.write("stop", "");
    EXPECT_TRUE(shell_.shows("over")) << shell_.unread();
    shell_.type("echo status $?\n");
    EXPECT_TRUE(shell_.shows("status 0")) << shell_.unread();
  }

  Terminal shell_{{"sh", "-i"}};
  pid_t command_ = 0;
  pid_t supervisor_ = 0;
};

TEST_F(EbbRunOnATerminal, TheCommandSeesTheTerminalResized) {
  shell_.resize(111);
  EXPECT_TRUE(shell_.shows("resized")) << shell_.unread();
  // Of two that wait at the same time the kernel keeps one.
  wait_until([&] { return !is_pending(supervisor_, SIGWINCH); });
  kill(supervisor_, SIGWINCH);
  EXPECT_TRUE(shell_.shows("resized")) << "sent to the supervisor alone; " << shell_.unread();
  end();
}

TEST_F(EbbRunOnATerminal, CtrlZStopsTheJobAndTheShellGoesOnWithIt) {
  for (int i = 0; i < 2; ++i) {
    shell_.type(kCtrlZ);
    EXPECT_TRUE(shell_.shows("Stopped")) << shell_.unread();
    wait_until([&] { return both_are('T'); });
    shell_.type("fg\n");
    EXPECT_TRUE(shell_.shows("goes on")) << shell_.unread();
    wait_until([&] { return both_run(); });
  }
  end();
}

TEST_F(EbbRunOnATerminal, ASupervisorThatIsStoppedAndContinuedTakesTheJobWithIt) {
  kill(supervisor_, SIGTSTP);
  EXPECT_TRUE(shell_.shows("Stopped")) << "the shell has its prompt back; " << shell_.unread();
  wait_until([&] { return both_are('T'); });
  kill(supervisor_, SIGCONT);
  EXPECT_TRUE(shell_.shows("goes on")) << shell_.unread();
  wait_until([&] { return both_run(); });
  shell_.type("fg\n");
  end();
}

TEST_F(EbbRunOnATerminal, ACommandThatDoesNotStopIsNotLeftByItsSupervisor) {
  // Stopped by somebody else and continued by them: the supervisor must not wait for a shell.
  kill(command_, SIGSTOP);
  wait_until([&] { return state_of(command_) == 'T'; });
  EXPECT_NE(state_of(supervisor_), 'T');
  kill(command_, SIGCONT);
  EXPECT_TRUE(shell_.shows("goes on")) << shell_.unread();
  end();
}

TEST_F(EbbRun, ATerminalThatHangsUpTellsTheCommand) {
  Terminal terminal(command({"--quiet"}, {"sh", "-c",
                                          "trap 'echo > " + (folder_ / "told") +
                                              "; exit' HUP; echo ready; "
                                              "while true; do sleep 0.05; done"}));
  ASSERT_TRUE(terminal.shows("ready"));
  terminal.hang_up();
  wait_until([&] { return is_made(folder_ / "told"); });
}

}  // namespace
}  // namespace ebb::run
