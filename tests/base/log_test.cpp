// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/process_state.h"

namespace ebb::base {
namespace {

void collect(LogLevel, std::string_view line, void* into) {
  static_cast<std::vector<std::string>*>(into)->emplace_back(line);
}

TEST(Log, ReachesTheSinkFromTheLevelInForceUpwards) {
  std::vector<std::string> lines;
  const support::ScopedLog scope(LogLevel::info, collect, &lines);
  log(LogLevel::debug, "quiet");
  log(LogLevel::info, "round %d", 3);
  log(LogLevel::error, "bad");
  set_log_level(LogLevel::off);
  log(LogLevel::error, "nobody hears this");
  EXPECT_EQ(lines, (std::vector<std::string>{"round 3", "bad"}));
}

}  // namespace
}  // namespace ebb::base
