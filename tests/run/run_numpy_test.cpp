// SPDX-License-Identifier: Apache-2.0
// ebb run in front of jobs that compute with NumPy.
#include <cstdio>

#include "base/json.h"
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using support::Finished;

/// Of a job that ends as soon as half has gone back; the deadline only ends one that hangs.
void expect_most_returned(const Finished& done) {
  EXPECT_EQ(done.status, 0) << done.error;
  int held = 0;
  int left = 0;
  ASSERT_EQ(std::sscanf(done.output.c_str(), "%d %d", &held, &left), 2) << done.output;
  EXPECT_GT(held, 280) << "MiB: the arrays were in arenas";
  EXPECT_LT(left, held / 2) << done.error;
}

TEST_F(EbbRun, ReturnsWhatThreadsKeepInHugePages) {
  expect_most_returned(
      run({"--interval", "100ms"}, {"/usr/bin/python3", EBB_THREAD_ARRAYS_PY, "300"}));
}

TEST_F(EbbRun, CallsWhatThreadsKeepInHugePagesRetention) {
  base::Json found;
  const auto is_found = [&](const record::RecordedRun& run) {
    if (run.actions.empty()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const Finished doctor = support::run({EBB_PROGRAM, "doctor", "last", "--db", db(), "--json"});
    found = base::parse_json(doctor.output).value_or({});
    const base::Json* verdict = found.find("verdict");
    return verdict != nullptr && *verdict->as_string() == "retention";
  };
  expect_most_returned(run_until({"--interval", "100ms"},
                                 {"/usr/bin/python3", EBB_THREAD_ARRAYS_PY, "300", stop_file()},
                                 is_found));
  EXPECT_EQ(*found.find("verdict")->as_string(), "retention") << found.text();
  EXPECT_EQ(*found.find("fix")->find("kind")->as_string(), "cleanup");
  EXPECT_EQ(*found.find("fix")->find("text")->as_string(),
            "Keep cleaning up, or start the job with settings that keep less: see ebb env");
}

TEST_F(EbbRun, ReturnsWhatThreadsKeepWhereArenasGrowInLargeSteps) {
  // The second one because any setting of malloc's fixes the threshold that the job relies on.
  expect_most_returned(
      run({"--interval", "100ms"}, {"/usr/bin/python3", EBB_THREAD_ARRAYS_PY, "300"},
          {{"MALLOC_TOP_PAD_", "33554432"}, {"MALLOC_MMAP_THRESHOLD_", "33554432"}}));
}

}  // namespace
}  // namespace ebb::run
