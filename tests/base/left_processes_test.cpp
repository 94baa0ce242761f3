// SPDX-License-Identifier: Apache-2.0
// What tests start ends with them: tests/support/left_processes.h.
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "support/subprocess.h"

namespace ebb::support {
namespace {

constexpr const char* kInside = "EBB_TEST_IS_KILLED";

/// A process that is nobody's child and in no session of ours; its number.
constexpr const char* kDaemon =
    "setsid sh -c 'echo $$; exec sleep 600 >&- 2>&-' < /dev/null & exit";

bool is_gone(pid_t pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

TEST(LeftProcesses, EndWithATestThatIsKilled) {
  if (std::getenv(kInside) != nullptr) {
    Subprocess daemon({"sh", "-c", kDaemon});
    const std::string pid = daemon.read_line();
    std::printf("left %s\n", pid.c_str());
    std::fflush(stdout);
    while (true)
      pause();
  }
  Subprocess test({"/proc/self/exe", "--gtest_filter=LeftProcesses.EndWithATestThatIsKilled"},
                  {{kInside, "1"},
                   {"GTEST_OUTPUT", ""},
                   {"GTEST_TOTAL_SHARDS", ""},
                   {"GTEST_SHARD_INDEX", ""}});
  std::string line = test.read_line();
  while (!line.empty() && !line.starts_with("left "))
    line = test.read_line();
  ASSERT_TRUE(line.starts_with("left ")) << test.read_rest_of_error();
  const pid_t left = std::stoi(line.substr(5));
  EXPECT_FALSE(is_gone(left)) << "nothing ends before the test does";
  kill(test.pid(), SIGKILL);
  test.wait();
  for (int i = 0; i < 6000 && !is_gone(left); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(is_gone(left)) << left;
}

}  // namespace
}  // namespace ebb::support
