// SPDX-License-Identifier: Apache-2.0
#include "device/ledger.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace ebb::device {
namespace {

using base::kMiB;

constexpr std::uint64_t kPage = 2 * kMiB;

Ledger ledger() {
  return Ledger({.where = "device 3", .capacity = 10 * kMiB, .granularity = kPage});
}

TEST(Ledger, SaysWhereAndHowMuchIsLeft) {
  Ledger book = ledger();
  book.allocated(0x1000, 4 * kMiB);
  const auto full = book.can_allocate(8 * kMiB);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, base::Code::out_of_memory);
  EXPECT_EQ(full.error().message, "device 3: 8.0 MiB asked for, 6.0 MiB of 10.0 MiB left");
}

TEST(Ledger, SegmentsAndPagesShareTheCapacity) {
  Ledger book = ledger();
  book.reserved(0x40000000, 100 * kPage);
  EXPECT_TRUE(book.can_map(0x40000000, kPage, 5));
  EXPECT_FALSE(book.can_map(0x40000000, kPage, 6));
  book.mapped(0x40000000, kPage, 4);
  EXPECT_TRUE(book.can_allocate(2 * kMiB));
  EXPECT_FALSE(book.can_allocate(2 * kMiB + 1));
  book.unmapped(0x40000000 + kPage, kPage, 2);
  EXPECT_EQ(book.used(), 2 * kPage);
  EXPECT_TRUE(book.can_allocate(6 * kMiB));
}

TEST(Ledger, KnowsNoVirtualMemoryWithoutAGranularity) {
  const Ledger book({.where = "device 3", .capacity = kMiB, .granularity = 0});
  for (const base::Status& refused :
       {book.can_reserve(kPage), book.can_unreserve(0x1000, kPage), book.can_map(0x1000, kPage, 1),
        book.can_unmap(0x1000, kPage, 1)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::Code::unavailable);
  }
}

}  // namespace
}  // namespace ebb::device
