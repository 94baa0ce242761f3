// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace ebb::trace {

/// Names a private pool as PyTorch does: (0, 0) is the default pool, (0, n) a user's, (n, 0) a
/// graph capture's own.
struct PoolId {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  auto operator<=>(const PoolId&) const = default;
  bool is_default() const { return first == 0 && second == 0; }
};

}  // namespace ebb::trace
