// SPDX-License-Identifier: Apache-2.0
#include "keep/machine_cards.h"

#include <gtest/gtest.h>

namespace ebb::keep {
namespace {

TEST(MachineCards, WhatIsNotKnownIsNoNumber) {
  sense::GpuReading known;
  known.index = 0;
  known.total = 100;
  known.free = 40;
  sense::GpuReading lost;
  lost.index = 1;
  lost.trouble = "nvmlDeviceGetMemoryInfo: GPU is lost";
  const CardsSeen seen = machine_cards(std::vector{known, lost});
  EXPECT_EQ(seen.cards, (std::vector<fact::CardSample>{{0, {.total = 100, .free = 40}}}));
  EXPECT_EQ(seen.trouble, "GPU 1 does not tell its memory: nvmlDeviceGetMemoryInfo: GPU is lost");
  EXPECT_FALSE(seen.tells_caches);
}

TEST(MachineCards, SaysWhyThereAreNone) {
  const CardsSeen failed = machine_cards(base::error(base::Code::unavailable, "no driver"));
  EXPECT_TRUE(failed.cards.empty());
  EXPECT_EQ(failed.trouble, "no driver");
  EXPECT_NE(machine_cards(std::vector<sense::GpuReading>{}).trouble, "");
}

}  // namespace
}  // namespace ebb::keep
