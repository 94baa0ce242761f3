// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "device/address_space.h"

namespace ebb::replay {

/// Where segments that no recording shows are placed. Up to PyTorch 2.11 addresses decide which of
/// two equally large free blocks is taken, so that results depend on it a little.
enum class Placement : std::uint8_t {
  recorded,  ///< as recorded where the recording had the same segment at the same request
  down,      ///< each below all before it
  up,        ///< each above all before it
  chunks,    ///< recorded, else as CUDA does it: inside chunks of 32 MiB
};

/// From "recorded", "down", "up" or "chunks".
base::Result<Placement> parse_placement(std::string_view name);

/// How addresses are given out where the recording shows none.
device::AddressModel model_of(Placement placement);

}  // namespace ebb::replay
