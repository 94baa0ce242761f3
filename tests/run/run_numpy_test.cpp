// SPDX-License-Identifier: Apache-2.0
// ebb run in front of jobs that compute with NumPy.
#include <cstdio>

#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;

TEST_F(EbbRun, ReturnsWhatThreadsKeepInHugePages) {
  // The job ends as soon as half has gone back; the deadline only ends one that hangs.
  const Finished done =
      run({"--interval", "100ms"}, {"/usr/bin/python3", EBB_THREAD_ARRAYS_PY, "300"});
  EXPECT_EQ(done.status, 0) << done.error;
  int held = 0;
  int left = 0;
  ASSERT_EQ(std::sscanf(done.output.c_str(), "%d %d", &held, &left), 2) << done.output;
  EXPECT_GT(held, 280) << "MiB: the arrays were in arenas";
  EXPECT_LT(left, held / 2) << done.error;
}

}  // namespace
}  // namespace ebb::run
