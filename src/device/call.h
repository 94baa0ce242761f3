// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::device {

/// The calls of a Driver that reach the device, for counting them and for failing them on purpose.
enum class Call : std::uint8_t {
  info,
  memory,
  allocate,
  release,
  reserve,
  unreserve,
  map,
  unmap,
  record_event,
  event_done,
  wait_event,
  destroy_event,
  synchronize_stream,
  synchronize,
  is_capturing,
};

inline constexpr std::size_t kCallKinds = 15;

constexpr std::size_t index_of(Call call) {
  return static_cast<std::size_t>(call);
}

/// The member function's name, e.g. "record_event".
const char* name_of(Call call);

}  // namespace ebb::device
