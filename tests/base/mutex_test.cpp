// SPDX-License-Identifier: Apache-2.0
#include "base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace ebb::base {
namespace {

double seconds_since(std::int64_t start) {
  return static_cast<double>(system_clock().now_ns() - start) * 1e-9;
}

TEST(Mutex, IsHadAtOnceWhereItIsFree) {
  Mutex mutex;
  if (mutex.try_lock_for(0))
    mutex.unlock();
  else
    ADD_FAILURE() << "expected that it is free";
}

TEST(Mutex, IsNotHadWhileAnotherThreadHoldsIt) {
  Mutex mutex;
  const Lock held(mutex);
  std::thread([&mutex] {
    const std::int64_t start = system_clock().now_ns();
    if (mutex.try_lock_for(0.05)) {
      mutex.unlock();
      ADD_FAILURE() << "expected that it is held";
    }
    EXPECT_GE(seconds_since(start), 0.049);
  }).join();
}

TEST(Mutex, IsHadOnceItIsGivenBack) {
  Mutex mutex;
  std::atomic<bool> waits = false;
  std::thread waiter;
  {
    const Lock held(mutex);
    waiter = std::thread([&mutex, &waits] {
      waits = true;
      waits.notify_all();
      if (mutex.try_lock_for(120))
        mutex.unlock();
      else
        ADD_FAILURE() << "expected that it is given back";
    });
    waits.wait(false);
  }
  waiter.join();
}

TEST(Condition, WaitsForItsTimeAndNoShorter) {
  Mutex mutex;
  Condition condition;
  const Lock held(mutex);
  const std::int64_t start = system_clock().now_ns();
  for (double left = 0.05; left > 0; left = 0.05 - seconds_since(start))
    condition.wait_for(mutex, left);
  EXPECT_GE(seconds_since(start), 0.05);
}

TEST(Condition, DoesNotWaitForATimeThatIsOver) {
  Mutex mutex;
  Condition condition;
  const Lock held(mutex);
  condition.wait_for(mutex, -1e300);
  condition.wait_for(mutex, 0);
}

TEST(Condition, WakesWhoWaitsForAnAge) {
  Mutex mutex;
  Condition condition;
  bool is_done = false;
  std::thread worker([&] {
    const Lock lock(mutex);
    is_done = true;
    condition.notify_all();
  });
  {
    const Lock lock(mutex);
    while (!is_done)
      condition.wait_for(mutex, 1e300);
  }
  worker.join();
}

}  // namespace
}  // namespace ebb::base
