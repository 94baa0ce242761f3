// SPDX-License-Identifier: Apache-2.0
// Python in which the start-up hook cannot start is named, half a minute after its agent came.
#include <algorithm>

#include "run/run_fixture.h"

namespace ebb::run {
namespace {

bool names_missing_hook(const record::RecordedRun& run) {
  return std::any_of(run.events.begin(), run.events.end(), [](const record::Event& event) {
    return event.kind == "agent" && event.process &&
           event.text.find(
               "Python without Ebb's hook: garbage collection takes no part in "
               "cleanups") != std::string::npos;
  });
}

TEST_F(EbbRun, NamesPythonWhoseHookHasNotStarted) {
  // It ignores the environment, and its main thread never comes back to Python code. Where it was
  // so slow to get there that the agent has started the hook meanwhile, as a thread, it begins
  // anew.
  const std::string script =
      folder_.write("waits.py",
                    "import ctypes, os, sys\n"
                    "system = ctypes.PyDLL(None).system\n"
                    "if len(sys._current_frames()) > 1:\n"
                    "    os.execv(sys.executable, [sys.executable, '-E', *sys.argv])\n"
                    "system(sys.argv[1].encode())\n");
  const std::string waiting = "while [ ! -e '" + stop_file() + "' ]; do sleep 0.1; done";
  const support::Finished done = run_until(
      {"--interval", "100ms"}, {"/usr/bin/python3", "-E", script, waiting}, names_missing_hook);
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_TRUE(names_missing_hook(last()));
  EXPECT_NE(done.error.find("Python without Ebb's hook"), std::string::npos) << done.error;
  const support::Finished report = support::run({EBB_PROGRAM, "report", "last", "--db", db()});
  EXPECT_NE(report.output.find("Python without Ebb's hook"), std::string::npos) << report.output;
}

}  // namespace
}  // namespace ebb::run
