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
  Cleaned cleaned;
  cleaned.reason = Reason::critical;
  cleaned.known = kKnowsLive;
  cleaned.rss_before = 1ULL << 40;
  cleaned.returned = 123;
  cleaned.cost_seconds = 0.25;
  const auto back = decode(bytes_of(cleaned));
  ASSERT_TRUE(back) << back.error().message;
  const auto& same = std::get<Cleaned>(*back);
  EXPECT_EQ(same.reason, Reason::critical);
  EXPECT_EQ(same.known, kKnowsLive);
  EXPECT_EQ(same.rss_before, 1ULL << 40);
  EXPECT_EQ(same.returned, 123U);
  EXPECT_EQ(same.cost_seconds, 0.25);
}

TEST(Message, KeepsItsKind) {
  const std::vector<Message> all = {Hello{}, Reading{}, Round{}, Cleaned{},
                                    Read{},  Clean{},   Left{}};
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
  Clean clean;
  clean.reason = static_cast<Reason>(kReasons);
  EXPECT_FALSE(decode(bytes_of(clean)));
}

TEST(Reason, HasANameEach) {
  for (std::uint32_t i = 0; i < kReasons; ++i)
    EXPECT_STRNE(name_of(static_cast<Reason>(i)), "unknown");
}

}  // namespace
}  // namespace ebb::wire
