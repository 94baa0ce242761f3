// SPDX-License-Identifier: Apache-2.0
#include "replay/placement.h"

#include <array>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

constexpr std::array<const char*, 4> kPlacements = {"recorded", "down", "up", "chunks"};

}  // namespace

base::Result<Placement> parse_placement(std::string_view name) {
  for (std::size_t i = 0; i < kPlacements.size(); ++i) {
    if (name == kPlacements[i]) return static_cast<Placement>(i);
  }
  return base::error(base::Code::bad_input,
                     "driver model '%.*s': expected recorded, down, up or chunks",
                     static_cast<int>(name.size()), name.data());
}

device::AddressModel model_of(Placement placement) {
  switch (placement) {
    case Placement::down:
      return device::AddressModel::descending();
    case Placement::up:
      return device::AddressModel::ascending();
    case Placement::chunks:
      return device::AddressModel::like_cuda();
    case Placement::recorded:
      break;
  }
  return {.growth = device::Growth::down, .reuse = device::Reuse::highest, .step = 32 * base::kMiB};
}

}  // namespace ebb::replay
