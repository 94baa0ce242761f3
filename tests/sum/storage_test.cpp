// SPDX-License-Identifier: Apache-2.0
#include "sum/storage.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ebb::sum {
namespace {

constexpr std::size_t kPerHugePage = (std::size_t{2} << 20U) / sizeof(std::int64_t);

TEST(Storage, LargeMemoryStartsWhereAHugePageCan) {
  for (const std::size_t count : {2 * kPerHugePage, 2 * kPerHugePage + 1, 5 * kPerHugePage - 7}) {
    auto storage = Storage::create(count);
    ASSERT_TRUE(storage);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(storage->data()) % (std::size_t{2} << 20U), 0U);
    std::fill(storage->data(), storage->data() + count, 7);
    EXPECT_EQ(std::count(storage->data(), storage->data() + count, 7),
              static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Storage, LetsGoOfWholePortionsFromTheStart) {
  const std::size_t count = 3 * kPerHugePage + 100;
  auto storage = Storage::create(count);
  ASSERT_TRUE(storage);
  std::int64_t* data = storage->data();
  std::fill(data, data + count, 7);
  storage->release_before(kPerHugePage - 1);
  EXPECT_EQ(data[0], 7);
  storage->release_before(2 * kPerHugePage + 5);
  EXPECT_EQ(data[0], 0);
  EXPECT_EQ(data[2 * kPerHugePage - 1], 0);
  EXPECT_EQ(data[2 * kPerHugePage], 7);
  storage->release_all();
  EXPECT_EQ(std::count(data, data + count, 0), static_cast<std::ptrdiff_t>(count));
  data[count - 1] = 3;
  EXPECT_EQ(data[count - 1], 3);
}

TEST(Storage, HoldsLittleOrNothing) {
  for (const std::size_t count : {0U, 1U, 1000U}) {
    auto storage = Storage::create(count);
    ASSERT_TRUE(storage);
    std::fill(storage->data(), storage->data() + count, 7);
    storage->release_before(count);
    storage->release_all();
    EXPECT_EQ(std::count(storage->data(), storage->data() + count, 0),
              static_cast<std::ptrdiff_t>(count));
  }
}

}  // namespace
}  // namespace ebb::sum
