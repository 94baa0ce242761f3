// SPDX-License-Identifier: Apache-2.0
#include "fl/crew.h"

#include <atomic>
#include <barrier>

namespace ebb::fl {
namespace {

const Crew::Allowance kEverybody = [](std::uint32_t now) { return now; };

TEST(Crew, DoesEveryItemOnce) {
  Crew crew(4, kEverybody);
  std::vector<std::atomic<int>> done(100);
  ASSERT_TRUE(crew.run(100, [&](std::uint32_t slot, std::uint32_t item) -> base::Status {
    EXPECT_LT(slot, 4U);
    ++done[item];
    return {};
  }));
  for (const std::atomic<int>& count : done)
    EXPECT_EQ(count, 1);
}

TEST(Crew, WorksSideBySide) {
  Crew crew(3, kEverybody);
  std::barrier together(3);  // nobody passes unless three are at work at the same time
  ASSERT_TRUE(crew.run(3, [&](std::uint32_t, std::uint32_t) -> base::Status {
    together.arrive_and_wait();
    return {};
  }));
}

TEST(Crew, NeverGivesOneSlotToTwo) {
  Crew crew(4, kEverybody);
  std::vector<std::atomic<bool>> busy(4);
  ASSERT_TRUE(crew.run(1000, [&](std::uint32_t slot, std::uint32_t) -> base::Status {
    EXPECT_FALSE(busy[slot].exchange(true));
    busy[slot] = false;
    return {};
  }));
}

TEST(Crew, GoesOnWithFewerWhenLessIsAllowed) {
  std::uint32_t allowed = 4;
  Crew crew(4, [&](std::uint32_t now) { return std::min(now, allowed); });
  std::atomic<int> done = 0;
  const auto count = [&](std::uint32_t, std::uint32_t) -> base::Status {
    ++done;
    return {};
  };
  ASSERT_TRUE(crew.run(8, count));
  EXPECT_EQ(crew.now(), 4U);
  allowed = 0;
  ASSERT_TRUE(crew.run(50, count));
  EXPECT_EQ(crew.now(), 1U) << "one always goes on";
  EXPECT_EQ(done, 58);
  crew.grow();
  EXPECT_EQ(crew.now(), 2U);
  for (int i = 0; i < 9; ++i)
    crew.grow();
  EXPECT_EQ(crew.now(), crew.most());
}

TEST(Crew, StopsAtAFailureAndGivesTheFirst) {
  Crew crew(1, kEverybody);
  int begun = 0;
  const auto done = crew.run(100, [&](std::uint32_t, std::uint32_t item) -> base::Status {
    ++begun;
    if (item == 7) return base::error(base::Code::bad_input, "item %u", item);
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "item 7");
  EXPECT_EQ(begun, 8);
}

TEST(Crew, HasNothingToDoForNoItems) {
  Crew crew(2, kEverybody);
  EXPECT_TRUE(crew.run(0, [](std::uint32_t, std::uint32_t) -> base::Status {
    return base::error(base::Code::internal, "called");
  }));
}

}  // namespace
}  // namespace ebb::fl
