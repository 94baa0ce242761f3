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

}  // namespace
}  // namespace ebb::sense
