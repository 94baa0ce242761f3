// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/counterfactual.h"

#include <gtest/gtest.h>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

TEST(WithoutKey, LeavesTheOtherSettingsAsTheyAre) {
  EXPECT_EQ(without_key("max_split_size_mb:64", "max_split_size_mb"), "");
  EXPECT_EQ(without_key("expandable_segments:True,max_split_size_mb:64", "max_split_size_mb"),
            "expandable_segments:True");
  EXPECT_EQ(without_key("roundup_power2_divisions:[1:2,>:4],max_split_size_mb:64",
                        "roundup_power2_divisions"),
            "max_split_size_mb:64");
  EXPECT_EQ(
      without_key("max_split_size_mb:64, roundup_power2_divisions:[1:2,>:4]", "max_split_size_mb"),
      " roundup_power2_divisions:[1:2,>:4]");
  EXPECT_EQ(without_key("", "max_split_size_mb"), "");
}

/// The peak without the cause; nothing where it is no cause of this job.
std::optional<std::uint64_t> peak_without(Patient& job, Verdict cause) {
  const auto workload = workload_of(job.snapshot(), {});
  EXPECT_TRUE(workload);
  const auto recorded = forecast(*workload, workload->recording.conf, {}, false);
  EXPECT_TRUE(recorded);
  const auto row = replay_without(*workload, *recorded, {}, cause);
  return row ? std::optional(row->outcome.peak_reserved) : std::nullopt;
}

TEST(ReplayWithout, TakesOneCauseAway) {
  Patient rounded({.conf = "roundup_power2_divisions:2"});
  rounded.take_all(4, 65 * kMiB);
  EXPECT_EQ(peak_without(rounded, Verdict::rounding), 4 * 66 * kMiB);
  EXPECT_EQ(peak_without(rounded, Verdict::oversize), std::nullopt);

  Patient deferred;
  for (int i = 0; i < 4; ++i) {
    const Address shared = deferred.take(100 * kMiB);
    deferred.share(shared, 7);
    deferred.give(shared);
  }
  EXPECT_EQ(peak_without(deferred, Verdict::deferred_frees), 100 * kMiB);
  EXPECT_EQ(peak_without(deferred, Verdict::private_pools), std::nullopt);
  EXPECT_EQ(peak_without(deferred, Verdict::fragmentation), std::nullopt);

  Patient pools;
  for (int i = 0; i < 4; ++i) {
    const cache::PoolId pool = pools.enter_pool(false);
    pools.give(pools.take(100 * kMiB));
    pools.leave_pool(pool);
  }
  EXPECT_EQ(peak_without(pools, Verdict::private_pools), 100 * kMiB);
  EXPECT_EQ(peak_without(pools, Verdict::deferred_frees), std::nullopt);
}

}  // namespace
}  // namespace ebb::replay
