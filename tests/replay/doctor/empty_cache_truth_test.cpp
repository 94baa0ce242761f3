// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"
#include "replay/doctor/empty_cache.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {
namespace {

/// As PyTorch 2.11 recorded it on an H200, without stacks: 40 steps of a small network
/// (bench/gpu/empty_cache.py).
EmptyCacheUse recorded_use(const std::string& name, bool harmful) {
  const auto snapshot = trace::read_snapshot(EBB_TEST_DATA "/loops/" + name + ".pickle.gz");
  EXPECT_TRUE(snapshot) << snapshot.error().message;
  const SnapshotDiagnosis found = examine(*snapshot, 139 * kGiB);
  EXPECT_EQ(found.verdict == Verdict::empty_cache || has_also(found, Verdict::empty_cache), harmful)
      << name;
  EXPECT_EQ(found.empty_cache.is_harmful(), harmful) << name;
  return found.empty_cache;
}

TEST(EmptyCache, IsFoundInWhatPyTorchRecorded) {
  EXPECT_EQ(recorded_use("never", false).calls, 0U);
  EXPECT_EQ(recorded_use("every_epoch", false).calls, 4U);
  const EmptyCacheUse use = recorded_use("every_step", true);
  EXPECT_EQ(use.calls, 40U);
  EXPECT_EQ(use.released, 40 * 2056 * kMiB);
  EXPECT_EQ(use.retaken, 39 * 2056 * kMiB);
}

}  // namespace
}  // namespace ebb::replay
