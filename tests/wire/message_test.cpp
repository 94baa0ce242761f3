// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ebb::wire {
namespace {

std::vector<std::byte> bytes_of(const Message& message) {
  Buffer buffer{};
  const auto record = encode(message, buffer);
  return {record.begin(), record.end()};
}

TEST(Message, SurvivesItsWayOverTheWire) {
  fact::Cleanup cleanup;
  cleanup.trigger = fact::Trigger::critical;
  cleanup.depth = fact::Depth::deep;
  cleanup.before.rss = 1ULL << 40;
  cleanup.after.rss = 7;
  cleanup.after.live = 0;
  cleanup.returned = 123;
  cleanup.seconds = 0.25;
  cleanup.missed_garbage = true;
  cleanup.add(base::DeviceChange::between(0, 9, 5));
  cleanup.add(base::DeviceChange::between(7, 1ULL << 40, 0));
  const auto back = decode(bytes_of(cleanup));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<fact::Cleanup>(*back), cleanup) << "also that retained is not known";
}

TEST(Message, RefusesDevicesThatCannotBe) {
  CleanupRecord record;
  record.devices = 2;
  record.device[0] = {.device = 1, .before = 5, .after = 3};
  record.device[1] = {.device = 2, .before = 5, .after = 3};
  EXPECT_TRUE(fact_of(record));
  record.device[1].device = 1;
  EXPECT_FALSE(fact_of(record)) << "one twice";
  record.device[1].device = 5000;
  EXPECT_FALSE(fact_of(record));
  record.device[1] = {};
  record.devices = 1;
  EXPECT_TRUE(fact_of(record));
  record.device[4].after = 1;
  EXPECT_FALSE(fact_of(record)) << "said of none";
  record.devices = 9;
  EXPECT_FALSE(fact_of(record));
}

TEST(Message, CarriesCards) {
  Cards cards;
  for (std::uint32_t i = 0; i < 10; ++i)
    cards.cards.push_back({i, {80ULL << 30, i, 7, 5}});
  cards.cards[1].memory.live = 2;
  cards.cards[2].memory.inactive = 0;
  const auto back = decode(bytes_of(cards));
  ASSERT_TRUE(back) << back.error().message;
  cards.cards.resize(kMostDevices);
  EXPECT_EQ(std::get<Cards>(*back), cards);
}

TEST(Message, RefusesCardsThatCannotBe) {
  const CardRecord sound{.index = 3, .total = 10, .free = 5, .reserved = 4, .cached = 2};
  const auto refuses = [&](auto change) {
    CardsRecord record;
    record.cards = 1;
    record.card[0] = sound;
    EXPECT_TRUE(fact_of(record));
    change(record);
    return !fact_of(record);
  };
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].total = 0; }));
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].free = 11; }));
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].cached = 5; }));
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].live = 3; })) << "more than is in use";
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].inactive = 3; })) << "more than is not";
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[0].index = 5000; }));
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[5].live = 1; })) << "said of none";
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.card[5].free = 1; })) << "said of none";
  EXPECT_TRUE(refuses([](CardsRecord& r) { r.cards = 9; }));
  EXPECT_TRUE(refuses([&](CardsRecord& r) { r.cards = 2, r.card[1] = sound; })) << "one twice";
}

TEST(Message, TellsNothingFromZero) {
  Reading reading;
  reading.memory.live = 0;
  reading.memory.rss = 5;
  reading.language = Language::python_without_hook;
  reading.shares_arenas = true;
  reading.python_arenas = 0;
  const auto back = decode(bytes_of(reading));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Reading>(*back).memory, reading.memory);
  EXPECT_EQ(std::get<Reading>(*back).language, Language::python_without_hook);
  EXPECT_TRUE(std::get<Reading>(*back).shares_arenas);
  EXPECT_FALSE(std::get<Reading>(*back).uses_cuda);
  EXPECT_EQ(std::get<Reading>(*back).python_arenas, 0U);
  reading.python_arenas.reset();
  EXPECT_FALSE(std::get<Reading>(*decode(bytes_of(reading))).python_arenas);
}

TEST(Message, KeepsItsKind) {
  const fact::PrivateAllocator beside{"mimalloc", "lib.so", ""};
  const std::vector<Message> all = {Hello{}, Reading{}, Round{}, fact::Cleanup{},
                                    Read{},  Clean{},   Left{},  beside,
                                    Name{},  Marker{},  Cards{}, ReadCards{}};
  for (const Message& message : all) {
    const auto back = decode(bytes_of(message));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->index(), message.index());
  }
}

TEST(Message, CutsATextThatIsTooLong) {
  Hello hello;
  hello.allocator = Text<16>("an allocator with a very long name");
  const auto back = decode(bytes_of(hello));
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<Hello>(*back).allocator.view(), "an allocator wi");
}

TEST(Message, ReadsATextWithoutAnEnd) {
  Hello hello;
  hello.allocator.bytes.fill('x');
  EXPECT_EQ(hello.allocator.view().size(), 16U);
}

TEST(Message, RefusesWhatIsNoRecord) {
  const std::vector<std::byte> good = bytes_of(Reading{});
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(decode(std::span(good.data(), length))) << length;
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer));
  for (const std::size_t at : {0U, 4U, 6U}) {  // magic, version, kind
    std::vector<std::byte> other = good;
    other[at] = std::byte{0xEE};
    EXPECT_FALSE(decode(other)) << at;
  }
}

TEST(Message, RefusesValuesThatCannotBe) {
  Reading reading;
  for (const double cost : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    reading.cost_seconds = cost;
    EXPECT_FALSE(decode(bytes_of(reading))) << cost;
  }
  reading.cost_seconds = 0;
  reading.language = static_cast<Language>(kLanguages);
  EXPECT_FALSE(decode(bytes_of(reading)));
  std::vector<std::byte> setting = bytes_of(Reading{});
  setting[14] = std::byte{2};  // shares_arenas
  EXPECT_FALSE(decode(setting));
  Clean clean;
  clean.trigger = static_cast<fact::Trigger>(kTriggers);
  EXPECT_FALSE(decode(bytes_of(clean)));
}

TEST(Message, RefusesFiguresThatAreNotKnown) {
  for (const std::size_t at : {8U, 24U, 32U, 56U}) {  // known, live, retained, Python's arenas
    std::vector<std::byte> bytes = bytes_of(Reading{});
    ASSERT_TRUE(decode(bytes));
    bytes[at] = std::byte{8};
    EXPECT_FALSE(decode(bytes)) << at;
  }
}

TEST(Trigger, HasANameEachThatTheWireCarries) {
  for (std::uint32_t i = 0; i < kTriggers; ++i)
    EXPECT_STRNE(fact::name_of(static_cast<fact::Trigger>(i)), "unknown");
}

}  // namespace
}  // namespace ebb::wire
