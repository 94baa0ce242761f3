// SPDX-License-Identifier: Apache-2.0
// Processes that run without Ebb are named, with the reason.
#include <unistd.h>

#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;

/// What the run says of processes without an agent or a hook.
std::string said_of_agents(const record::RecordedRun& run) {
  std::string said;
  for (const record::Event& event : run.events)
    if (event.kind == "agent") said += event.text + "\n";
  return said;
}

class Unmanaged : public EbbRun {
 protected:
  /// Runs `job`, which ends once stop_file() is there, until something was said.
  std::string said_of(const Words& job) const {
    const Finished done =
        run_until({"--interval", "50ms"}, job,
                  [](const record::RecordedRun& run) { return !said_of_agents(run).empty(); });
    EXPECT_EQ(done.status, 0) << done.error;
    EXPECT_NE(done.error.find("runs without Ebb"), std::string::npos) << done.error;
    const record::RecordedRun recorded = last();
    for (const record::Event& event : recorded.events) {
      if (event.kind != "agent") continue;
      EXPECT_TRUE(event.process);
      for (const record::ProcessHistory& process : recorded.processes)
        EXPECT_FALSE(process.process.agent && process.process.key() == event.process);
    }
    return said_of_agents(recorded);
  }
  std::string until_stopped() const {
    return "while [ ! -e '" + stop_file() + "' ]; do sleep 0.05; done";
  }
};

TEST_F(Unmanaged, NamesAProcessWithAnEmptiedEnvironment) {
  EXPECT_NE(said_of({"env", "-i", "/bin/sh", "-c", until_stopped()}).find("environment of its own"),
            std::string::npos);
}

TEST_F(Unmanaged, NamesAProcessThatAsksToBeLeftAlone) {
  EXPECT_NE(said_of({"env", "EBB_DISABLE=1", "/bin/sh", "-c", until_stopped()}).find("EBB_DISABLE"),
            std::string::npos);
}

TEST_F(Unmanaged, NamesAStaticProgram) {
  const std::string script = "'" EBB_STATIC_WAITER "' '" + stop_file() + "' & wait";
  EXPECT_NE(said_of({"/bin/sh", "-c", script}).find("it is static"), std::string::npos);
}

TEST_F(Unmanaged, NamesAProcessOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_NE(
      said_of({"setpriv", "--reuid=65534", "--clear-groups", "/bin/sh", "-c", until_stopped()})
          .find("another user"),
      std::string::npos);
}

TEST_F(Unmanaged, SaysNothingOfProcessesThatAreManaged) {
  const Finished done = run({"--interval", "50ms"}, {"/bin/sh", "-c", "sleep 1.5 & sleep 1.5"});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(said_of_agents(last()), "");
}

}  // namespace
}  // namespace ebb::run
