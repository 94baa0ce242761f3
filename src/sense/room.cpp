// SPDX-License-Identifier: Apache-2.0
#include "sense/room.h"

#include <algorithm>
#include <optional>

#include "sense/gpu.h"
#include "sense/memory_info.h"

namespace ebb::sense {

const char* name_of(RoomKind kind) {
  return kind == RoomKind::host ? "host" : "gpu";
}

base::Result<Room> room_on_host() {
  const auto memory = memory_info();
  if (!memory) return memory.error();
  const double used = std::min(memory->percent, 100.0) / 100;
  const auto left = static_cast<std::uint64_t>(static_cast<double>(memory->limit) * (1 - used));
  return Room{RoomKind::host, std::min(left, memory->machine.available)};
}

base::Result<Room> room_on_gpu() {
  const auto meter = GpuMeter::open();
  if (!meter) return meter.error();
  const auto gpus = meter->read();
  if (!gpus) return gpus.error();
  std::optional<std::uint64_t> most;
  for (const GpuReading& gpu : *gpus)
    if (gpu.free && (!most || *gpu.free > *most)) most = gpu.free;
  if (!most)
    return base::error(base::Code::unavailable, "no GPU tells how much memory it has left");
  return Room{RoomKind::gpu, *most};
}

base::Result<std::optional<RoomKind>> room_kind_from(std::string_view where) {
  if (where == "auto") return std::optional<RoomKind>();
  for (const RoomKind kind : {RoomKind::host, RoomKind::gpu})
    if (where == name_of(kind)) return std::optional(kind);
  return base::error(base::Code::bad_input, "--where '%.*s': expected auto, gpu or host",
                     static_cast<int>(where.size()), where.data());
}

base::Result<Room> room_for(std::optional<RoomKind> where, std::optional<std::uint64_t> told) {
  if (told) return Room{where.value_or(RoomKind::gpu), *told};
  if (where == RoomKind::host) return room_on_host();
  const auto gpu = room_on_gpu();
  return gpu || where == RoomKind::gpu ? gpu : room_on_host();
}

}  // namespace ebb::sense
