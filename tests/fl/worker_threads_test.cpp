// SPDX-License-Identifier: Apache-2.0
#include "fl/worker_threads.h"

#include <atomic>
#include <barrier>

namespace ebb::fl {
namespace {

const WorkerThreads::Allowance kEverybody = [](std::uint32_t now) { return now; };

TEST(WorkerThreads, DoesEveryItemOnce) {
  WorkerThreads workers(4, kEverybody);
  std::vector<std::atomic<int>> done(100);
  ASSERT_TRUE(workers.run(100, [&](std::uint32_t slot, std::uint32_t item) -> base::Status {
    EXPECT_LT(slot, 4U);
    ++done[item];
    return {};
  }));
  for (const std::atomic<int>& count : done)
    EXPECT_EQ(count, 1);
}

TEST(WorkerThreads, WorksSideBySide) {
  WorkerThreads workers(3, kEverybody);
  std::barrier together(3);  // nobody passes unless three are at work at the same time
  ASSERT_TRUE(workers.run(3, [&](std::uint32_t, std::uint32_t) -> base::Status {
    together.arrive_and_wait();
    return {};
  }));
}

TEST(WorkerThreads, AnExceptionIsAFailure) {
  WorkerThreads workers(3, kEverybody);
  const base::Status done = workers.run(10, [](std::uint32_t, std::uint32_t item) -> base::Status {
    if (item == 4) throw std::runtime_error("thrown on purpose");
    if (item == 7) throw std::bad_alloc();
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "thrown on purpose") << "of the lowest item";
}

TEST(WorkerThreads, WhateverIsThrownIsAFailure) {
  WorkerThreads workers(3, kEverybody);
  const auto done = workers.run(10, [](std::uint32_t, std::uint32_t) -> base::Status { throw 5; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, base::Code::internal);
}

TEST(WorkerThreads, AnExceptionBetweenItemsIsAFailureToo) {
  WorkerThreads workers(3, [](std::uint32_t) -> std::uint32_t { throw std::bad_alloc(); });
  const auto done =
      workers.run(10, [](std::uint32_t, std::uint32_t) -> base::Status { return {}; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, base::Code::out_of_memory);
}

TEST(WorkerThreads, NeverGivesOneSlotToTwo) {
  WorkerThreads workers(4, kEverybody);
  std::vector<std::atomic<bool>> busy(4);
  ASSERT_TRUE(workers.run(1000, [&](std::uint32_t slot, std::uint32_t) -> base::Status {
    EXPECT_FALSE(busy[slot].exchange(true));
    busy[slot] = false;
    return {};
  }));
}

TEST(WorkerThreads, GoesOnWithFewerWhenLessIsAllowed) {
  std::uint32_t allowed = 4;
  WorkerThreads workers(4, [&](std::uint32_t now) { return std::min(now, allowed); });
  std::atomic<int> done = 0;
  const auto count = [&](std::uint32_t, std::uint32_t) -> base::Status {
    ++done;
    return {};
  };
  ASSERT_TRUE(workers.run(8, count));
  EXPECT_EQ(workers.now(), 4U);
  allowed = 0;
  ASSERT_TRUE(workers.run(50, count));
  EXPECT_EQ(workers.now(), 1U) << "one always goes on";
  EXPECT_EQ(done, 58);
  workers.grow();
  EXPECT_EQ(workers.now(), 2U);
  for (int i = 0; i < 9; ++i)
    workers.grow();
  EXPECT_EQ(workers.now(), workers.most());
}

TEST(WorkerThreads, StopsAtAFailureAndGivesTheFirst) {
  WorkerThreads workers(1, kEverybody);
  int begun = 0;
  const auto done = workers.run(100, [&](std::uint32_t, std::uint32_t item) -> base::Status {
    ++begun;
    if (item == 7) return base::error(base::Code::bad_input, "item %u", item);
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "item 7");
  EXPECT_EQ(begun, 8);
}

TEST(WorkerThreads, HasNothingToDoForNoItems) {
  WorkerThreads workers(2, kEverybody);
  EXPECT_TRUE(workers.run(0, [](std::uint32_t, std::uint32_t) -> base::Status {
    return base::error(base::Code::internal, "called");
  }));
}

}  // namespace
}  // namespace ebb::fl
