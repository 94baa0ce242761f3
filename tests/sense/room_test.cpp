// SPDX-License-Identifier: Apache-2.0
#include "sense/room.h"

#include "sense/memory_info.h"

namespace ebb::sense {
namespace {

TEST(Rooms, TheHostHasNoMoreThanItsLimitAndTheMachine) {
  const auto room = room_on_host();
  ASSERT_TRUE(room) << room.error().message;
  EXPECT_EQ(room->where, RoomKind::host);
  const auto memory = memory_info();
  ASSERT_TRUE(memory);
  EXPECT_GT(room->bytes, 0U);
  EXPECT_LE(room->bytes, memory->limit);
  EXPECT_LE(room->bytes, memory->machine.total);
}

TEST(Rooms, AGpuTellsItsRoomOrThereIsNone) {
  const auto room = room_on_gpu();
  if (room) {
    EXPECT_EQ(room->where, RoomKind::gpu);
  } else {
    EXPECT_EQ(room.error().code, base::Code::unavailable) << room.error().message;
  }
}

TEST(Rooms, WhatIsToldIsNotLookedFor) {
  EXPECT_EQ(room_for(RoomKind::host, 1000)->bytes, 1000U);
  EXPECT_EQ(room_for(RoomKind::host, 1000)->where, RoomKind::host);
  EXPECT_EQ(room_for(RoomKind::gpu, 1000)->where, RoomKind::gpu);
  EXPECT_EQ(room_for(std::nullopt, 1000)->where, RoomKind::gpu);
}

TEST(Rooms, AutoIsAGpuWhereThereIsOneAndElseTheHost) {
  const bool has_gpu = room_on_gpu().has_value();
  EXPECT_EQ(room_for(std::nullopt, {})->where, has_gpu ? RoomKind::gpu : RoomKind::host);
  EXPECT_EQ(room_for(RoomKind::gpu, {}).has_value(), has_gpu);
  EXPECT_EQ(room_for(RoomKind::host, {})->where, RoomKind::host);
}

TEST(Rooms, AreNamedAsTheOptionNamesThem) {
  for (const RoomKind kind : {RoomKind::host, RoomKind::gpu})
    EXPECT_EQ(*room_kind_from(name_of(kind)), kind);
  ASSERT_TRUE(room_kind_from("auto"));
  EXPECT_FALSE(*room_kind_from("auto"));
  const auto wrong = room_kind_from("GPU");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "--where 'GPU': expected auto, gpu or host");
}

}  // namespace
}  // namespace ebb::sense
