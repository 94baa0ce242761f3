// SPDX-License-Identifier: Apache-2.0
#include "fl/card_cache.h"

#include "fl/fake_card.h"

namespace ebb::fl {
namespace {

using base::kGiB;

TEST(CardCache, GivesBackWhatIsCachedAndTellsTheDevice) {
  FakeCard card;
  card.hold(20 * kGiB, 5 * kGiB);
  const base::Reclaimed reclaimed = CardCache(card).reclaim();
  EXPECT_TRUE(reclaimed.ok);
  EXPECT_EQ(reclaimed.count, 5 * kGiB);
  EXPECT_EQ(
      reclaimed.devices,
      (std::vector<base::DeviceChange>{base::DeviceChange::between(0, 25 * kGiB, 20 * kGiB)}));
}

TEST(CardCache, OfACardThatCannotBeReadIsEmptiedAllTheSame) {
  FakeCard card;
  card.is_readable = false;
  const base::Reclaimed reclaimed = CardCache(card).reclaim();
  EXPECT_EQ(card.emptied, 1);
  EXPECT_TRUE(reclaimed.devices.empty());
  EXPECT_EQ(reclaimed.detail, "what it holds of the card cannot be read");
}

}  // namespace
}  // namespace ebb::fl
