// SPDX-License-Identifier: Apache-2.0
#include "replay/parallel.h"

#include <gtest/gtest.h>

#include <new>

namespace ebb::replay {
namespace {

TEST(ForAll, CallsEachOnce) {
  std::vector<std::atomic<int>> calls(100);
  for_all(calls.size(), [&](std::size_t i) { ++calls[i]; });
  for (const std::atomic<int>& count : calls)
    EXPECT_EQ(count, 1);
}

TEST(ForAll, AnExceptionInAnyThreadReachesTheCaller) {
  // Whoever takes an item throws, on whatever thread.
  EXPECT_THROW(for_all(100, [](std::size_t) { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace
}  // namespace ebb::replay
