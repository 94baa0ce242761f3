// SPDX-License-Identifier: Apache-2.0
#include "device/address_space.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace ebb::device {
namespace {

using base::kMiB;

constexpr std::uint64_t kStep = 2 * kMiB;

TEST(AddressSpace, AscendingNeverUsesAnAddressTwice) {
  AddressSpace space(AddressModel::ascending());
  const Address first = *space.take(kStep);
  const Address second = *space.take(1);
  EXPECT_EQ(second, first + kStep);
  EXPECT_EQ(first % kStep, 0u);
  space.give_back(first);
  EXPECT_EQ(*space.take(kStep), second + kStep) << "one byte takes a whole step";
}

TEST(AddressSpace, DescendingGoesDown) {
  AddressSpace space(AddressModel::descending());
  const Address first = *space.take(kStep);
  EXPECT_EQ(*space.take(3 * kStep), first - 3 * kStep);
  space.give_back(first);
  EXPECT_EQ(*space.take(kStep), first - 4 * kStep);
}

TEST(AddressSpace, FirstFitTakesTheLowestHoleThatHolds) {
  AddressSpace space(AddressModel::first_fit());
  const Address a = *space.take(kStep);
  const Address b = *space.take(2 * kStep);
  const Address c = *space.take(kStep);
  const Address d = *space.take(4 * kStep);
  space.give_back(d);
  space.give_back(b);
  EXPECT_EQ(*space.take(3 * kStep), d) << "the lower hole is too small";
  EXPECT_EQ(*space.take(kStep), b);
  EXPECT_EQ(*space.take(kStep), b + kStep);
  EXPECT_EQ(*space.take(kStep), d + 3 * kStep);
  space.give_back(a);
  space.give_back(c);
  EXPECT_EQ(*space.take(2 * kStep), d + 4 * kStep) << "holes apart do not add up";
}

TEST(AddressSpace, AdjacentHolesMerge) {
  AddressSpace space(AddressModel::first_fit());
  const Address a = *space.take(kStep);
  const Address b = *space.take(kStep);
  const Address c = *space.take(kStep);
  ASSERT_TRUE(space.take(kStep));
  space.give_back(a);
  space.give_back(c);
  space.give_back(b);
  EXPECT_EQ(*space.take(3 * kStep), a);
}

TEST(AddressSpace, HighestTakesTheEndOfTheHighestHole) {
  AddressSpace space({.growth = Growth::down, .reuse = Reuse::highest});
  const Address a = *space.take(4 * kStep);
  const Address b = *space.take(kStep);
  const Address c = *space.take(2 * kStep);
  space.give_back(c);
  space.give_back(a);
  EXPECT_EQ(*space.take(kStep), a + 3 * kStep);
  EXPECT_EQ(*space.take(4 * kStep), c - 4 * kStep);
  EXPECT_EQ(*space.take(3 * kStep), a);
  EXPECT_EQ(*space.take(2 * kStep), c);
  EXPECT_LT(c, b);
}

TEST(AddressSpace, LastFreedComesBackFirst) {
  AddressSpace space(AddressModel::last_freed());
  const Address a = *space.take(kStep);
  const Address b = *space.take(kStep);
  const Address c = *space.take(2 * kStep);
  ASSERT_TRUE(space.take(kStep));
  space.give_back(c);
  space.give_back(a);
  space.give_back(b);
  EXPECT_EQ(*space.take(kStep), b);
  EXPECT_EQ(*space.take(kStep), a);
  EXPECT_EQ(*space.take(kStep), c);
  EXPECT_EQ(*space.take(kStep), c + kStep) << "the rest of a range stays";
}

TEST(AddressSpace, ChunksAreSharedAndReturnedWhenEmpty) {
  AddressSpace space(AddressModel::like_cuda());
  const Address a = *space.take(20 * kMiB);
  EXPECT_EQ(a % (32 * kMiB), 0u);
  const Address b = *space.take(20 * kMiB);
  EXPECT_EQ(b, a - 32 * kMiB) << "no room in the first chunk, the next lies below";
  EXPECT_EQ(*space.take(2 * kMiB), b + 20 * kMiB) << "the lowest place in any chunk";
  EXPECT_EQ(*space.take(12 * kMiB), a + 20 * kMiB);
  const Address large = *space.take(40 * kMiB);
  EXPECT_EQ(large, b - 64 * kMiB);
  space.give_back(a);
  space.give_back(a + 20 * kMiB);
  EXPECT_EQ(*space.take(30 * kMiB), a) << "a returned chunk is used before new space";
  space.give_back(large);
  EXPECT_EQ(*space.take(2 * kMiB), b + 22 * kMiB) << "small ranges stay in chunks in use";
  EXPECT_EQ(*space.take(33 * kMiB), large);
}

TEST(AddressSpace, TakesTheVeryRangeThatIsAskedFor) {
  for (const AddressModel& model : {AddressModel::ascending(), AddressModel::first_fit(),
                                    AddressModel::last_freed(), AddressModel::like_cuda()}) {
    AddressSpace space(model);
    const Address wanted = 0x7f12'3420'0000;
    ASSERT_TRUE(space.take_at(wanted, 20 * kMiB));
    EXPECT_FALSE(space.take_at(wanted, kStep));
    EXPECT_FALSE(space.take_at(wanted + 18 * kMiB, 20 * kMiB));
    EXPECT_FALSE(space.take_at(wanted - kStep, 2 * kStep));
    EXPECT_FALSE(space.take_at(wanted - kStep, 30 * kMiB));
    EXPECT_TRUE(space.take_at(wanted - kStep, kStep));
    EXPECT_TRUE(space.take_at(wanted + 20 * kMiB, kStep));
    space.give_back(wanted);
    EXPECT_TRUE(space.take_at(wanted, 20 * kMiB));
  }
}

TEST(AddressSpace, RefusesRangesThatNoAddressCanHold) {
  AddressSpace space(AddressModel::ascending());
  EXPECT_FALSE(space.take_at(0, kStep));
  EXPECT_FALSE(space.take_at(kStep, 0));
  EXPECT_FALSE(space.take_at(std::numeric_limits<Address>::max() - kStep, 2 * kStep));
  EXPECT_FALSE(space.take(0));
  const auto too_large = space.take(std::numeric_limits<std::uint64_t>::max());
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, base::Code::out_of_memory);
  AddressSpace down(AddressModel::descending());
  EXPECT_FALSE(down.take(std::uint64_t{1} << 60));
  EXPECT_TRUE(down.take(kStep));
}

TEST(AddressSpace, RangesInUseNeverOverlapUnderAnyModel) {
  for (const Growth growth : {Growth::up, Growth::down}) {
    for (const Reuse reuse : {Reuse::never, Reuse::lowest, Reuse::highest, Reuse::latest}) {
      for (const std::uint64_t chunk : {std::uint64_t{0}, 32 * kMiB}) {
        const AddressModel model{.growth = growth, .reuse = reuse, .chunk = chunk};
        AddressSpace space(model);
        std::mt19937 random(20240229);
        std::map<Address, std::uint64_t> used;
        for (int step = 0; step < 2000; ++step) {
          if (used.empty() || random() % 100 < 55) {
            const std::uint64_t bytes = (random() % 24 + 1) * kMiB;
            Address address = 0;
            if (random() % 4 == 0) {
              address = 0x7e00'0000'0000 + (random() % 4096) * kMiB;
              if (!space.take_at(address, bytes)) continue;
            } else {
              address = *space.take(bytes);
              EXPECT_EQ(address % kStep, 0u);
            }
            const auto next = used.lower_bound(address);
            ASSERT_TRUE(next == used.end() || address + bytes <= next->first);
            if (next != used.begin()) {
              const auto& [start, size] = *std::prev(next);
              ASSERT_LE(start + size, address);
            }
            used[address] = bytes;
          } else {
            const auto victim =
                std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
            space.give_back(victim->first);
            used.erase(victim);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ebb::device
