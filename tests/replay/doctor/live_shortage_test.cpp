// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/live_shortage.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

using base::kGiB;
using fact::Verdict;

/// A card of 80 GiB of which 500 MiB are CUDA's own.
LiveShortage on_card(std::uint64_t requested, std::uint64_t in_use, std::uint64_t unused,
                     std::uint64_t others = 0) {
  LiveShortage shortage;
  shortage.requested = requested;
  shortage.total = 80 * kGiB;
  shortage.in_use = in_use;
  shortage.reserved = in_use + unused;
  shortage.free = shortage.total - shortage.reserved - others - kGiB / 2;
  return shortage;
}

TEST(LiveShortage, WhatIsInUseIsTooMuch) {
  const auto found = diagnose(on_card(10 * kGiB, 75 * kGiB, 1 * kGiB));
  EXPECT_EQ(found.verdict, Verdict::capacity) << found.headline;
  EXPECT_NE(found.fix.text.find("less alive"), std::string::npos) << found.fix.text;
}

TEST(LiveShortage, WhatIsUnusedIsInPieces) {
  LiveShortage shortage = on_card(10 * kGiB, 60 * kGiB, 18 * kGiB);
  EXPECT_EQ(diagnose(shortage).verdict, Verdict::fragmentation);
  EXPECT_EQ(diagnose(shortage).confidence, fact::Confidence::medium) << "pieces are not known";
  shortage.largest_free = 2 * kGiB;
  EXPECT_EQ(diagnose(shortage).confidence, fact::Confidence::high);
}

TEST(LiveShortage, OthersHoldIt) {
  const auto found = diagnose(on_card(10 * kGiB, 5 * kGiB, 0, 70 * kGiB));
  EXPECT_EQ(found.verdict, Verdict::other_process) << found.headline;
  EXPECT_EQ(*found.evidence.find("others_bytes")->as_unsigned(), 70 * kGiB + kGiB / 2);
}

TEST(LiveShortage, TheProcessLimitsItself) {
  LiveShortage shortage = on_card(10 * kGiB, 5 * kGiB, 0);
  shortage.limit = 8 * kGiB;
  const auto found = diagnose(shortage);
  EXPECT_EQ(found.verdict, Verdict::self_limit) << found.headline;
  EXPECT_EQ(found.fix.bytes, 15 * kGiB);
}

TEST(LiveShortage, CudasOwnMemoryIsNobodyElses) {
  EXPECT_EQ(diagnose(on_card(1 * kGiB, 79 * kGiB, 0)).verdict, Verdict::capacity);
}

TEST(LiveShortage, ThereMayBeRoomByNow) {
  EXPECT_EQ(diagnose(on_card(10 * kGiB, 5 * kGiB, 0)).verdict, Verdict::healthy);
}

}  // namespace
}  // namespace ebb::replay
