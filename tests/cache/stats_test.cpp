// SPDX-License-Identifier: Apache-2.0
#include "cache/stats.h"

#include <gtest/gtest.h>

#include "cache/fixture.h"
#include "cache/summary.h"

namespace ebb::cache {
namespace {

TEST(Stats, HaveAsManyKeysAsThatPyTorch) {
  const auto keys = [](int minor) { return memory_stats({}, {}, *profile_of(minor)).size(); };
  EXPECT_EQ(keys(1), 119U);
  EXPECT_EQ(keys(2), 119U);
  EXPECT_EQ(keys(3), 122U);
  EXPECT_EQ(keys(11), 122U);
  EXPECT_EQ(keys(12), 123U);
}

TEST(Stats, AreSortedByKey) {
  const StatsTable table = memory_stats({}, {}, *profile_of(11));
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end()));
  EXPECT_EQ(table.front().first, "active.all.allocated");
  EXPECT_EQ(table.back().first, "segment.small_pool.peak");
}

TEST(Stats, PeaksOfTheSumAreNotTheSumOfPeaks) {
  World world;
  const Address small = world.allocate(512);
  world.free(small);
  world.allocate(2 * kMiB);
  const PooledStat stat = world.core->stats()[Metric::allocated_bytes];
  EXPECT_EQ(stat.small.peak, 512);
  EXPECT_EQ(stat.large.peak, static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(stat.all.peak, static_cast<std::int64_t>(2 * kMiB));
  EXPECT_EQ(stat.all.allocated, static_cast<std::int64_t>(2 * kMiB + 512));
  EXPECT_EQ(stat.all.freed, 512);
}

TEST(Stats, ResetsTouchPeaksOrSumsAlone) {
  World world;
  const Address a = world.allocate(4 * kMiB);
  const Address b = world.allocate(4 * kMiB);
  world.free(a);
  world.core->reset_peaks();
  Stat stat = world.core->stats()[Metric::allocation].all;
  EXPECT_EQ(stat, (Stat{1, 1, 2, 1}));
  world.core->reset_sums();
  stat = world.core->stats()[Metric::allocation].all;
  EXPECT_EQ(stat, (Stat{1, 1, 0, 0}));
  EXPECT_EQ(world.core->stats().num_device_alloc, 0);
  world.free(b);
  stat = world.core->stats()[Metric::active].all;
  EXPECT_EQ(stat, (Stat{0, 1, 0, 1}));
}

TEST(Stats, SummaryIsPyTorchsTable) {
  World world;
  world.allocate(1);
  const std::string text = memory_summary(world.core->stats(), 0);
  EXPECT_EQ(text.substr(0, text.find("| Requested")),
            "|===========================================================================|\n"
            "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
            "|---------------------------------------------------------------------------|\n"
            "|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |\n"
            "|===========================================================================|\n"
            "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
            "|---------------------------------------------------------------------------|\n"
            "| Allocated memory      |    512 B   |    512 B   |    512 B   |      0 B   |\n"
            "|       from large pool |      0 B   |      0 B   |      0 B   |      0 B   |\n"
            "|       from small pool |    512 B   |    512 B   |    512 B   |      0 B   |\n"
            "|---------------------------------------------------------------------------|\n"
            "| Active memory         |    512 B   |    512 B   |    512 B   |      0 B   |\n"
            "|       from large pool |      0 B   |      0 B   |      0 B   |      0 B   |\n"
            "|       from small pool |    512 B   |    512 B   |    512 B   |      0 B   |\n"
            "|---------------------------------------------------------------------------|\n");
  EXPECT_LT(memory_summary(world.core->stats(), 0, true).size(), text.size());
}

}  // namespace
}  // namespace ebb::cache
