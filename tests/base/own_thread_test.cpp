// SPDX-License-Identifier: Apache-2.0
#include "base/own_thread.h"

#include <gtest/gtest.h>

#include <thread>

namespace ebb::base {
namespace {

int told_of = 0;

TEST(OwnThread, CountsWhileItLives) {
  const unsigned before = own_threads();
  std::thread([before] {
    const OwnThread own;
    EXPECT_EQ(own_threads(), before + 1);
  }).join();
  EXPECT_EQ(own_threads(), before);
}

TEST(OwnThread, IsToldToWhoeverCountsElsewhere) {
  tell_of_own_threads([](int by) { told_of += by; });
  {
    const OwnThread own;
    EXPECT_EQ(told_of, 1);
  }
  EXPECT_EQ(told_of, 0);
  tell_of_own_threads(nullptr);
}

TEST(OwnThread, IsNeverFewerThanNone) {
  {
    const OwnThread own;
    forget_own_threads();
    EXPECT_EQ(own_threads(), 0U) << "a forked child has none of its parent's";
  }
  EXPECT_EQ(own_threads(), 0U);
  forget_own_threads();
}

}  // namespace
}  // namespace ebb::base
