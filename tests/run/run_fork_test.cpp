// SPDX-License-Identifier: Apache-2.0
// ebb run in front of jobs that fork.
#include <sys/stat.h>

#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;

TEST_F(EbbRun, LetsAJobForkInEveryWayWhileItCleansUp) {
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", EBB_FORKS_PY, EBB_LIBRARY});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "done\n") << done.error;
  const record::RecordedRun recorded = last();
  std::size_t managed = 0;
  for (const record::ProcessHistory& process : recorded.processes)
    managed += process.process.agent ? 1U : 0U;
  EXPECT_GE(managed, 2U) << "the job, and one of its children at the least";
  std::size_t known = managed;  // or with a good reason to have no agent
  for (const record::Event& event : recorded.events)
    known += event.kind == "agent" ? 1U : 0U;
  EXPECT_GE(known, 12U) << "the job, and every process of it that announced rounds";
}

TEST_F(EbbRun, SaysWhichChildRunsWithoutEbb) {
  const std::string fifo = folder_ / "driver";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Finished done =
      run({"--interval", "50ms"}, {"/usr/bin/python3", EBB_LOST_CHILD_PY, EBB_LIBRARY, fifo});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "0\n1\n") << "the child without, the parent with";
  EXPECT_NE(done.error.find("runs without Ebb"), std::string::npos) << done.error;
  const record::RecordedRun recorded = last();
  ASSERT_TRUE(has_event(recorded, "agent"));
  for (const record::Event& event : recorded.events) {
    if (event.kind != "agent") continue;
    EXPECT_NE(event.text.find("runs without Ebb"), std::string::npos) << event.text;
    if (!event.process) continue;  // the child had ended when its word was read
    EXPECT_NE(event.text.find(std::to_string(event.process->pid)), std::string::npos);
    for (const record::ProcessHistory& process : recorded.processes)
      EXPECT_FALSE(process.process.agent && process.process.key() == *event.process);
  }
}

}  // namespace
}  // namespace ebb::run
