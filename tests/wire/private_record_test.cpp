// SPDX-License-Identifier: Apache-2.0
#include "wire/private_record.h"

#include <gtest/gtest.h>

namespace ebb::wire {
namespace {

TEST(PrivateRecord, SurvivesItsWayAndTellsNothingFromZero) {
  fact::PrivateAllocator sent{"jemalloc", "_polars_runtime.abi3.so", "_rjem_", true};
  sent.retained = 0;
  sent.asked = 3;
  sent.returned = 1ULL << 40;
  const auto back = fact_of(record_of(sent));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, sent);
}

TEST(PrivateRecord, CutsANameThatIsTooLong) {
  const auto back = fact_of(record_of({"mimalloc", std::string(200, 'x'), ""}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->library, std::string(47, 'x'));
}

TEST(PrivateRecord, RefusesWhatCannotBe) {
  const PrivateRecord good = record_of({"mimalloc", "lib.so", ""});
  ASSERT_TRUE(fact_of(good));
  const auto refused = [&](auto change) {
    PrivateRecord record = good;
    change(record);
    const auto back = fact_of(record);
    return !back && back.error().code == base::Code::bad_input;
  };
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.kind = {}; }));
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.library = Text<48>("lib\x1b[2J.so"); }));
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.library.bytes[20] = 'x'; })) << "after its end";
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.live = 1; })) << "a figure that is not known";
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.known = 4; }));
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.controllable = 2; }));
  EXPECT_TRUE(refused([](PrivateRecord& r) { r.returned = 1; })) << "without being asked";
}

}  // namespace
}  // namespace ebb::wire
