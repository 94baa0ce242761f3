// SPDX-License-Identifier: Apache-2.0
#include "run/launch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_directory.h"

namespace ebb::run {
namespace {

SignalState no_signals() {
  SignalState none;
  sigemptyset(&none.mask);
  return none;
}

Ending run_to_its_end(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment = {"PATH=/usr/bin:/bin"}) {
  const auto launched = launch(command, environment, no_signals());
  EXPECT_TRUE(launched);
  EXPECT_EQ(launched->trouble, "");
  int status = 0;
  EXPECT_EQ(waitpid(launched->pid, &status, 0), launched->pid);
  return ending_of(status);
}

TEST(Launch, GivesTheCommandsOwnStatus) {
  EXPECT_EQ(run_to_its_end({"sh", "-c", "exit 7"}).exit_code, 7);
  const Ending killed = run_to_its_end({"sh", "-c", "kill -TERM $$"});
  EXPECT_FALSE(killed.exit_code);
  EXPECT_EQ(killed.signal, SIGTERM);
}

TEST(Launch, StartsWithTheEnvironmentGivenAndNoOther) {
  EXPECT_EQ(run_to_its_end({"sh", "-c", "test \"$A\" = b && test -z \"$HOME\""},
                           {"A=b", "PATH=/usr/bin:/bin"})
                .exit_code,
            0);
}

TEST(Launch, SaysWhyItCannotRunACommand) {
  const auto none = launch({"no-such-command"}, {}, no_signals());
  ASSERT_TRUE(none);
  EXPECT_EQ(none->exit_code, 127);
  EXPECT_NE(none->trouble.find("no-such-command"), std::string::npos);
  const support::TemporaryDirectory folder;
  const std::string text = folder.write("text", "hello");
  const auto refused = launch({text}, {}, no_signals());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->exit_code, 126);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no zombie is left";
}

TEST(EndAs, EndsAsTheCommandDid) {
  const auto end = [](const Ending& ending) {
    const pid_t child = fork();
    if (child == 0) end_as(ending);
    int status = 0;
    waitpid(child, &status, 0);
    return ending_of(status);
  };
  EXPECT_EQ(end({5, {}}).exit_code, 5);
  EXPECT_EQ(end({{}, SIGINT}).signal, SIGINT);
  EXPECT_EQ(end({{}, SIGKILL}).signal, SIGKILL);
  EXPECT_EQ(end({{}, SIGSEGV}).signal, SIGSEGV);
}

}  // namespace
}  // namespace ebb::run
