// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ebb::sense {

/// Whose memory.
enum class RoomKind : std::uint8_t { host, gpu };
/// "host" or "gpu".
const char* name_of(RoomKind kind);

/// Memory that is free now.
struct Room {
  RoomKind where = RoomKind::host;
  std::uint64_t bytes = 0;
};

/// What this process may still take: the rest of its limit, and no more than the machine has.
base::Result<Room> room_on_host();

/// The most that any one GPU has left. Code::unavailable where there is none that tells.
base::Result<Room> room_on_gpu();

/// --where: "host", "gpu", or "auto", which is nothing. Code::bad_input for anything else.
base::Result<std::optional<RoomKind>> room_kind_from(std::string_view where);

/// Nothing is a GPU where there is one. `told`: what to take its free memory for, in place of
/// looking.
base::Result<Room> room_for(std::optional<RoomKind> where, std::optional<std::uint64_t> told);

}  // namespace ebb::sense
