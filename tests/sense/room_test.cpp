// SPDX-License-Identifier: Apache-2.0
#include "sense/room.h"

#include "sense/memory_info.h"

namespace ebb::sense {
namespace {

TEST(Rooms, TheHostHasNoMoreThanItsLimitAndTheMachine) {
  const auto room = room_on_host();
  ASSERT_TRUE(room) << room.error().message;
  EXPECT_STREQ(room->where, "host");
  const auto memory = memory_info();
  ASSERT_TRUE(memory);
  EXPECT_GT(room->bytes, 0U);
  EXPECT_LE(room->bytes, memory->limit);
  EXPECT_LE(room->bytes, memory->machine.total);
}

TEST(Rooms, AGpuTellsItsRoomOrThereIsNone) {
  const auto room = room_on_gpu();
  if (room) {
    EXPECT_STREQ(room->where, "gpu");
  } else {
    EXPECT_EQ(room.error().code, base::Code::unavailable) << room.error().message;
  }
}

TEST(Rooms, WhatIsToldIsNotLookedFor) {
  EXPECT_EQ(room_for("host", 1000)->bytes, 1000U);
  EXPECT_STREQ(room_for("host", 1000)->where, "host");
  for (const char* where : {"gpu", "auto"})
    EXPECT_STREQ(room_for(where, 1000)->where, "gpu") << where;
}

TEST(Rooms, AutoIsAGpuWhereThereIsOneAndElseTheHost) {
  const bool has_gpu = room_on_gpu().has_value();
  EXPECT_STREQ(room_for("auto", {})->where, has_gpu ? "gpu" : "host");
  EXPECT_EQ(room_for("gpu", {}).has_value(), has_gpu);
  EXPECT_STREQ(room_for("host", {})->where, "host");
}

}  // namespace
}  // namespace ebb::sense
