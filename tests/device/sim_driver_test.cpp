// SPDX-License-Identifier: Apache-2.0
#include "device/sim_driver.h"

#include <gtest/gtest.h>

namespace ebb::device {
namespace {

using base::Code;
using base::kGiB;
using base::kMiB;

TEST(SimDriver, HoldsACardThatTheMachineDoesNot) {
  SimDriver sim({.total_memory = 1024 * kGiB, .used_by_others = 24 * kGiB});
  ASSERT_TRUE(sim.allocate(0, 900 * kGiB));
  EXPECT_EQ(sim.memory(0)->free, 100 * kGiB);
  EXPECT_EQ(sim.memory(0)->total, 1024 * kGiB);
  const auto more = sim.allocate(0, 100 * kGiB + 1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::out_of_memory);
  EXPECT_TRUE(sim.allocate(0, 100 * kGiB));
  EXPECT_EQ(sim.used(0), 1000 * kGiB);
}

TEST(SimDriver, TakesScriptedAddressesAndThenItsModel) {
  SimDriver sim({});
  sim.script_addresses(0, {0x7f00'0000'0000, 0x7f10'0000'0000});
  sim.script_addresses(0, {0x7f20'0000'0000});
  EXPECT_EQ(*sim.allocate(0, 2 * kMiB), 0x7f00'0000'0000u);
  EXPECT_EQ(*sim.reserve(0, 4 * kMiB), 0x7f10'0000'0000u);
  EXPECT_EQ(sim.scripted_addresses_left(0), 1u);
  EXPECT_EQ(*sim.allocate(0, 2 * kMiB), 0x7f20'0000'0000u);
  const auto by_model = sim.allocate(0, 2 * kMiB);
  ASSERT_TRUE(by_model);
  EXPECT_EQ(*by_model, 0x7f20'0020'0000u) << "beyond all that was taken";
}

TEST(SimDriver, RefusesScriptedAddressesThatCannotBe) {
  SimDriver sim({.total_memory = 100 * kMiB});
  sim.script_addresses(0, {0x1000'0000, 0x1010'0000, 0x2000'1000, 0x3000'0000, 0x3000'0000});
  ASSERT_TRUE(sim.allocate(0, 2 * kMiB));
  const auto overlapping = sim.allocate(0, 2 * kMiB);
  ASSERT_FALSE(overlapping);
  EXPECT_EQ(overlapping.error().code, Code::bad_input);
  const auto odd = sim.reserve(0, 2 * kMiB);
  ASSERT_FALSE(odd) << "a reservation off the granularity could never be mapped";
  EXPECT_EQ(odd.error().code, Code::bad_input);
  ASSERT_FALSE(sim.allocate(0, 200 * kMiB));
  EXPECT_EQ(*sim.allocate(0, 2 * kMiB), 0x3000'0000u) << "a full device uses up no address";
}

TEST(SimDriver, AsksTheChooserBeforeTheModel) {
  SimDriver sim({});
  sim.choose_addresses(0, [](std::uint64_t bytes) {
    return bytes == 20 * kMiB ? std::optional<Address>(0x5000'0000'0000) : std::nullopt;
  });
  EXPECT_NE(*sim.allocate(0, 2 * kMiB), 0x5000'0000'0000u);
  EXPECT_EQ(*sim.allocate(0, 20 * kMiB), 0x5000'0000'0000u);
}

TEST(SimDriver, FailsTheCallItIsToldTo) {
  SimDriver sim({});
  sim.inject({.call = Call::allocate, .after = 2, .times = 1, .native = 2});
  EXPECT_TRUE(sim.allocate(0, kMiB));
  EXPECT_TRUE(sim.reserve(0, 2 * kMiB)) << "another kind does not count";
  EXPECT_TRUE(sim.allocate(0, kMiB));
  const auto third = sim.allocate(0, kMiB);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::out_of_memory);
  EXPECT_EQ(third.error().native, 2);
  EXPECT_TRUE(sim.allocate(0, kMiB));
  EXPECT_EQ(sim.used(0), 3 * kMiB) << "the failed call took nothing";
}

TEST(SimDriver, FailsAboveASize) {
  SimDriver sim({});
  sim.inject({.above = 20 * kMiB});
  EXPECT_TRUE(sim.allocate(0, 20 * kMiB));
  EXPECT_FALSE(sim.allocate(0, 20 * kMiB + 1));
  sim.clear_faults();
  const auto range = sim.reserve(0, 100 * kMiB);
  ASSERT_TRUE(range);
  sim.inject({.above = 20 * kMiB});
  EXPECT_TRUE(sim.map(0, *range, 2 * kMiB, 10));
  EXPECT_FALSE(sim.map(0, *range + 20 * kMiB, 2 * kMiB, 11)) << "all pages together count";
}

TEST(SimDriver, FailsEveryCallOfAKindUntilToldOtherwise) {
  SimDriver sim({});
  sim.inject({.call = Call::synchronize, .code = Code::io, .native = 700});
  for (int i = 0; i < 3; ++i) {
    const auto failed = sim.synchronize(0);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Code::io);
  }
  sim.clear_faults();
  EXPECT_TRUE(sim.synchronize(0));
}

TEST(SimDriver, CountsCallsOfEachKind) {
  SimDriver sim({.devices = 2});
  const auto segment = sim.allocate(0, kMiB);
  ASSERT_TRUE(segment);
  EXPECT_TRUE(sim.release(0, *segment, kMiB));
  EXPECT_FALSE(sim.release(0, *segment, kMiB));
  EXPECT_TRUE(sim.memory(1));
  EXPECT_EQ(sim.calls(Call::allocate), 1u);
  EXPECT_EQ(sim.calls(Call::release), 2u) << "failed ones too";
  EXPECT_EQ(sim.calls(Call::memory), 1u);
  EXPECT_EQ(sim.calls(Call::map), 0u);
}

TEST(SimDriver, FinishesEventsAtOnceUnlessByHand) {
  SimDriver at_once({});
  EXPECT_TRUE(*at_once.event_done(0, *at_once.record_event(0, 5)));

  SimDriver by_hand({.events = Completion::by_hand});
  const EventId first = *by_hand.record_event(0, 5);
  const EventId other = *by_hand.record_event(0, 6);
  const EventId second = *by_hand.record_event(0, 5);
  const EventId third = *by_hand.record_event(0, 5);
  ASSERT_TRUE(by_hand.complete_event(0, second));
  EXPECT_TRUE(*by_hand.event_done(0, first)) << "a stream works in order";
  EXPECT_TRUE(*by_hand.event_done(0, second));
  EXPECT_FALSE(*by_hand.event_done(0, third));
  EXPECT_FALSE(*by_hand.event_done(0, other));
  by_hand.complete_stream(0, 6);
  EXPECT_TRUE(*by_hand.event_done(0, other));
  EXPECT_FALSE(*by_hand.event_done(0, third));
  EXPECT_FALSE(by_hand.complete_event(0, 999));
}

TEST(SimDriver, CapturesWhatItIsTold) {
  SimDriver sim({});
  sim.set_capturing(0, 9, true);
  EXPECT_TRUE(*sim.is_capturing(0, 9));
  EXPECT_FALSE(*sim.is_capturing(0, 0));
  sim.set_capturing(0, 9, false);
  EXPECT_FALSE(*sim.is_capturing(0, 9));
}

TEST(SimDriver, CanBeACardWithoutVirtualMemory) {
  SimDriver sim({.virtual_memory = false});
  EXPECT_FALSE(sim.info(0)->virtual_memory);
  EXPECT_EQ(sim.info(0)->granularity, 0u);
  const auto range = sim.reserve(0, 2 * kMiB);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::unavailable);
}

TEST(Call, HasTheNameOfTheFunction) {
  EXPECT_STREQ(name_of(Call::info), "info");
  EXPECT_STREQ(name_of(Call::record_event), "record_event");
  EXPECT_STREQ(name_of(Call::is_capturing), "is_capturing");
  EXPECT_EQ(index_of(Call::is_capturing) + 1, kCallKinds);
}

}  // namespace
}  // namespace ebb::device
