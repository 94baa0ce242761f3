// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "support/subprocess.h"

namespace ebb::support {

/// For a case that measures the memory of its process, which cases before it would decide. It
/// begins with
///
///   if (!is_alone()) return;
///
/// The first call runs the case again, in a new process that runs nothing else, with `extra` in its
/// environment, and passes its failures on; there the answer is true.
inline bool is_alone(Subprocess::Environment extra = {}) {
  constexpr const char* kAlone = "EBB_TEST_ALONE";
  if (std::getenv(kAlone) != nullptr) return true;
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(test->test_suite_name()) + "." + test->name();
  extra.insert(
      extra.end(),
      {{kAlone, "1"}, {"GTEST_OUTPUT", ""}, {"GTEST_TOTAL_SHARDS", ""}, {"GTEST_SHARD_INDEX", ""}});
  const Finished done = run({"/proc/self/exe", "--gtest_brief=1", "--gtest_filter=" + name}, extra);
  EXPECT_EQ(done.status, 0) << done.output << done.error;
  EXPECT_NE(done.output.find("1 test from 1 test suite ran"), std::string::npos) << done.output;
  return false;
}

/// Lets the peak that the kernel keeps of this process start again from its present rss.
inline bool reset_peak_rss() {
  std::ofstream file("/proc/self/clear_refs");
  file << '5' << std::flush;
  return file.good();
}

}  // namespace ebb::support
