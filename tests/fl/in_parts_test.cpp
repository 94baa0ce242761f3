// SPDX-License-Identifier: Apache-2.0
#include "fl/in_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace ebb::fl {
namespace {

TEST(InParts, AllIsDoneOnce) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{100000}, std::size_t{1} << 19U,
        (std::size_t{1} << 20U) + 12345, std::size_t{3000001}}) {
    std::vector<int> times(count);
    in_parts(count, [&](std::size_t first, std::size_t end) {
      ASSERT_LE(end, count);
      for (std::size_t i = first; i < end; ++i)
        ++times[i];
    });
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(times[i], 1) << i << " of " << count;
  }
}

TEST(OnThreads, EachIsDoneOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 7U}) {
    std::vector<int> times(count);
    on_threads(count, [&](std::size_t i) { ++times[i]; });
    EXPECT_EQ(times, std::vector<int>(count, 1));
  }
}

}  // namespace
}  // namespace ebb::fl
