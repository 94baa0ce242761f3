// SPDX-License-Identifier: Apache-2.0
#include "run/process_signal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "sense/process.h"

namespace ebb::run {
namespace {

TEST(SendSignal, ReachesTheProcessThatStartedThenAndNoOther) {
  const pid_t child = fork();
  if (child == 0) {
    while (true)
      pause();
  }
  const auto reading = sense::read_process(child);
  ASSERT_TRUE(reading);
  const record::ProcessKey itself{child, reading->start_ticks};
  const record::ProcessKey earlier{child, reading->start_ticks - 1};
  EXPECT_EQ(send_signal(earlier, SIGKILL), Delivery::gone);
  EXPECT_EQ(send_signal(itself, 0), Delivery::sent) << "it is still there";
  EXPECT_EQ(send_signal(itself, SIGKILL), Delivery::sent);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(send_signal(itself, SIGKILL), Delivery::gone);
}

}  // namespace
}  // namespace ebb::run
