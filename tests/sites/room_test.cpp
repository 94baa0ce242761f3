// SPDX-License-Identifier: Apache-2.0
#include "sites/room.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>

#include "sites/layout.h"
#include "sites/room_share.h"
#include "sites/table.h"
#include "sites/table_view.h"
#include "support/temporary_directory.h"

namespace ebb::sites {
namespace {

class Rooms : public testing::Test {
 protected:
  Room made(std::uint64_t most) {
    auto room = Room::make(folder_.path(), most);
    EXPECT_TRUE(room) << room.error().message;
    share_.open(folder_.path().c_str());
    return *std::move(room);
  }

  support::TemporaryDirectory folder_;
  RoomShare share_;
};

TEST_F(Rooms, AreTakenUntilTheyAreFullAndGivenBack) {
  Room room = made(10 * kSmallestTable);
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(share_.take_first(kSmallestTable)) << i;
  EXPECT_FALSE(share_.take_first(kSmallestTable));
  room.give_back(2 * kSmallestTable);
  EXPECT_TRUE(share_.take_first(kSmallestTable));
  EXPECT_TRUE(share_.take_first(kSmallestTable));
  EXPECT_FALSE(share_.take_first(kSmallestTable));
}

TEST_F(Rooms, ATableThatGrowsLeavesHalfToThoseThatCome) {
  made(8 << 20);
  EXPECT_FALSE(share_.take_more(5 << 20));
  EXPECT_TRUE(share_.take_more(4 << 20));
  EXPECT_FALSE(share_.take_more(3 << 20));
  EXPECT_TRUE(share_.take_first(3 << 20));
}

TEST_F(Rooms, OneTableHasRoomUnderAnyLimit) {
  EXPECT_EQ(made(1).most(), kSmallestTable);
  EXPECT_TRUE(share_.take_first(kSmallestTable));
}

TEST_F(Rooms, WithoutThemNothingIsBounded) {
  share_.open(folder_.path().c_str());
  EXPECT_TRUE(share_.take_first(std::size_t{1} << 40));
  folder_.write(kRoomFile, std::string(kRoomBytes, 'x'));
  share_.open(folder_.path().c_str());
  EXPECT_TRUE(share_.take_first(std::size_t{1} << 40)) << "no room of this ebb";
}

TEST_F(Rooms, WhatAFullDiskLeftOfThemIsNotTouched) {
  folder_.write(kRoomFile, "");
  share_.open(folder_.path().c_str());
  EXPECT_TRUE(share_.take_first(std::size_t{1} << 40));
}

TEST_F(Rooms, AProcessWithoutRoomHasNoTableAndIsCounted) {
  Room room = made(kSmallestTable);
  const auto first = std::make_unique<Table>(), second = std::make_unique<Table>();
  EXPECT_TRUE(first->open((folder_ / "sites-1-1").c_str(), 1, &share_));
  EXPECT_FALSE(second->open((folder_ / "sites-2-1").c_str(), 2, &share_));
  EXPECT_EQ(room.refused(), 1U);
  EXPECT_FALSE(std::ifstream(folder_ / "sites-2-1").is_open());
}

TEST_F(Rooms, ATableThatCannotGrowIsThinnedAndStaysRight) {
  made(3 * kSmallestTable);
  const auto table = std::make_unique<Table>();
  ASSERT_TRUE(table->open((folder_ / "sites-1-1").c_str(), 1, &share_));
  const std::uint64_t call = 0x401000;
  const std::uint32_t stack = table->add_stack(&call, 1, nullptr, 0, false);
  constexpr int kMany = 20'000;
  for (int i = 0; i < kMany; ++i) {
    const auto draw = static_cast<std::uint32_t>(static_cast<std::uint32_t>(i) * 2654435761U >> 8);
    table->insert((static_cast<std::uint64_t>(i) + 1) << 12,
                  {64 << 10, Table::about_of(stack, 0, draw), 0});
  }
  auto view = TableView::read(folder_ / "sites-1-1");
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_LE(view->room, 3 * kSmallestTable);
  EXPECT_GT(view->room, kSmallestTable) << "it took some";
  EXPECT_GT(table->thinned(), 0U);
  const double truth = kMany * (64 << 10) / (1 - std::exp(-0.125));
  EXPECT_NEAR(static_cast<double>(view->sites[stack].bytes) / truth, 1, 0.25);
}

TEST_F(Rooms, WhatTheSupervisorReadsIsNotTrusted) {
  Room room = made(1 << 20);
  folder_.write(kRoomFile, std::string(kRoomBytes, '\xff'));
  EXPECT_LE(room.refused(), 1U << 22);
  folder_.write(kRoomFile, "");
  EXPECT_EQ(room.refused(), 0U);
  room.give_back(~std::uint64_t{0});
}

}  // namespace
}  // namespace ebb::sites
