// SPDX-License-Identifier: Apache-2.0
// ebb run where the agent inside the job does not answer.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>

#include "base/file.h"
#include "base/text.h"
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

/// The thread of a process that goes by `name`; 0 where none does.
pid_t thread_named(pid_t pid, const std::string& name) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator(tasks)) {
    const std::string path = entry.path().string();
    if (base::trimmed(base::read_file(path + "/comm").value_or("")) == name)
      return std::stoi(entry.path().filename().string());
  }
  return 0;
}

/// Holds one thread of another process; the others go on.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) : thread_(thread) {
    held_ = ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) == 0 &&
            ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) == 0 &&
            waitpid(thread_, nullptr, __WALL) == thread_;
  }
  bool held() const { return held_; }
  void go_on() { ptrace(PTRACE_DETACH, thread_, nullptr, nullptr); }

 private:
  pid_t thread_;
  bool held_ = false;
};

TEST_F(EbbRun, SaysWhichAgentDoesNotAnswer) {
  support::Subprocess child(
      command({"--interval", "100ms"}, {EBB_JOB, "600", "leak", "until", stop_file()}));
  pid_t job = 0;
  wait_until([&] {
    const record::RecordedRun run = so_far();
    for (const record::ProcessHistory& process : run.processes)
      if (process.process.agent && !process.readings.empty()) job = process.process.pid;
    return job != 0;
  });
  ASSERT_NE(job, 0);
  HeldThread agent(thread_named(job, "ebb-agent"));
  const bool permitted = agent.held() || errno != EPERM;
  if (agent.held()) {
    wait_until([&] { return has_event(so_far(), name_of(record::EventKind::silent)); });
    agent.go_on();
    wait_until([&] { return has_event(so_far(), "agent"); });
  }
  folder_.write("stop", "");
  const support::Finished done = support::finished(child);
  if (!permitted) GTEST_SKIP() << "no thread of another process may be held here";
  ASSERT_TRUE(agent.held());
  EXPECT_EQ(done.status, 0) << done.error;
  const std::string who = "the agent of process " + std::to_string(job);
  EXPECT_NE(done.error.find(who + " does not answer"), std::string::npos) << done.error;
  EXPECT_NE(done.error.find(who + " answers again"), std::string::npos) << done.error;
}

}  // namespace
}  // namespace ebb::run
