// SPDX-License-Identifier: Apache-2.0
#include "device/tracing_driver.h"

#include <gtest/gtest.h>

#include "device/sim_driver.h"
#include "support/fake_clock.h"

namespace ebb::device {
namespace {

using base::kMiB;

TEST(TracingDriver, RecordsEveryCallInOrder) {
  SimDriver sim({});
  TracingDriver tracing(sim);
  const Address segment = *tracing.allocate(0, 2 * kMiB);
  const Address range = *tracing.reserve(0, 8 * kMiB);
  ASSERT_TRUE(tracing.map(0, range, 2 * kMiB, 3));
  const EventId event = *tracing.record_event(0, 5);
  ASSERT_FALSE(tracing.release(0, segment, kMiB));

  const auto records = tracing.records();
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[0].call, Call::allocate);
  EXPECT_EQ(records[0].address, segment);
  EXPECT_EQ(records[0].bytes, 2 * kMiB);
  EXPECT_EQ(records[1].call, Call::reserve);
  EXPECT_EQ(records[1].address, range);
  EXPECT_EQ(records[2].call, Call::map);
  EXPECT_EQ(records[2].bytes, 6 * kMiB);
  EXPECT_EQ(records[2].page, 2 * kMiB);
  EXPECT_EQ(records[3].stream, 5u);
  EXPECT_EQ(records[3].event, event);
  EXPECT_EQ(records[3].address, 0u);
  EXPECT_TRUE(records[3].ok);
  EXPECT_FALSE(records[4].ok);
  EXPECT_EQ(records[4].code, base::Code::bad_input);
}

TEST(TracingDriver, AddsUpCallsFailuresBytesAndTime) {
  support::FakeClock clock;
  SimDriver sim({.total_memory = 8 * kMiB});
  sim.choose_addresses(0, [&](std::uint64_t) {
    clock.advance_seconds(0.5);
    return std::nullopt;
  });
  TracingDriver tracing(sim, TracingDriver::Keep::totals, clock);
  ASSERT_TRUE(tracing.allocate(0, 2 * kMiB));
  ASSERT_TRUE(tracing.allocate(0, 4 * kMiB));
  ASSERT_FALSE(tracing.allocate(0, 4 * kMiB));
  const CallTotals totals = tracing.totals(Call::allocate);
  EXPECT_EQ(totals.calls, 3u);
  EXPECT_EQ(totals.failures, 1u);
  EXPECT_EQ(totals.bytes, 6 * kMiB);
  EXPECT_EQ(totals.nanoseconds, 1'000'000'000);
  EXPECT_TRUE(tracing.records().empty());
  tracing.clear();
  EXPECT_EQ(tracing.totals(Call::allocate).calls, 0u);
}

TEST(Call, HasTheNameOfTheFunction) {
  EXPECT_STREQ(name_of(Call::info), "info");
  EXPECT_STREQ(name_of(Call::record_event), "record_event");
  EXPECT_STREQ(name_of(Call::is_capturing), "is_capturing");
  EXPECT_EQ(index_of(Call::is_capturing) + 1, kCallKinds);
}

}  // namespace
}  // namespace ebb::device
