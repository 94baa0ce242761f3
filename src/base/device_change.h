// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace ebb::base {

/// What this process holds of a device's memory, in bytes, before and after something was done.
struct DeviceChange {
  static DeviceChange between(std::uint32_t device, std::uint64_t before, std::uint64_t after) {
    return {device, before, after, before - std::min(before, after)};
  }

  std::uint32_t device = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  std::uint64_t returned = 0;  ///< a sum where several changes are one

  bool operator==(const DeviceChange&) const = default;
};

}  // namespace ebb::base
