// SPDX-License-Identifier: Apache-2.0
#include "heap/arena_sweep.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "support/child_process.h"

namespace ebb::heap {
namespace {

constexpr int kDuring = 128 << 10;
constexpr int kAfterwards = 64 << 20;
constexpr unsigned kHelpers = 16;

std::atomic<int> threshold{0};
std::atomic<unsigned> inside{0};
std::atomic<bool> may_end{false};

int fake_mallopt(int option, int value) {
  if (option == M_TRIM_THRESHOLD) threshold = value;
  return 1;
}

void* malloc_that_waits(std::size_t) {
  ++inside;
  inside.notify_all();
  may_end.wait(false);
  return nullptr;
}

void fake_free(void*) {}

#if EBB_THREADS_IN_CHILDREN
TEST(ArenaSweep, AChildForkedInTheMiddleHasTheThresholdOfAfterwards) {
  unsetenv("MALLOC_TRIM_THRESHOLD_");
  const SweepFunctions functions{malloc_that_waits, fake_free, fake_mallopt};
  std::thread sweeper([&] { EXPECT_EQ(sweep_arenas(2, functions).threads, kHelpers); });
  // All of them: a sanitizer's own lock around a thread that is just being made would be the
  // child's.
  for (unsigned seen = inside; seen < kHelpers; seen = inside)
    inside.wait(seen);
  EXPECT_EQ(threshold, kDuring);
  EXPECT_TRUE(support::holds_in_child([] {
    if (threshold != kAfterwards) return false;
    may_end = true;
    // The parent's sweep is no business of this process, which may sweep by itself.
    return sweep_arenas(2, {malloc_that_waits, fake_free, fake_mallopt}).threads == kHelpers &&
           threshold == kAfterwards;
  }));
  EXPECT_EQ(threshold, kDuring) << "the parent goes on";
  may_end = true;
  may_end.notify_all();
  sweeper.join();
  EXPECT_EQ(threshold, kAfterwards);
}
#endif

}  // namespace
}  // namespace ebb::heap
