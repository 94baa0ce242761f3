// SPDX-License-Identifier: Apache-2.0
#include "base/signal_name.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

namespace ebb::base {
namespace {

TEST(SignalName, IsThatOfTheCLibraryForEverySignal) {
  for (int signal = -1; signal <= SIGRTMAX + 1; ++signal) {
    const char* known = sigabbrev_np(signal);
    EXPECT_EQ(signal_name(signal), known != nullptr ? std::string("SIG") + known : "") << signal;
  }
}

}  // namespace
}  // namespace ebb::base
