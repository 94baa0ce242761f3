// SPDX-License-Identifier: Apache-2.0
#include "trace/snapshot.h"

#include <array>

namespace ebb::trace {
namespace {

constexpr std::array<const char*, 3> kStates = {"active_allocated", "active_pending_free",
                                                "inactive"};

}  // namespace

const char* name_of(BlockState state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::optional<BlockState> block_state_of(std::string_view name) {
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    if (name == kStates[i]) return static_cast<BlockState>(i);
  }
  return std::nullopt;
}

}  // namespace ebb::trace
