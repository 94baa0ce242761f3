// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "trace/snapshot.h"

namespace ebb::replay {

/// Which private pool a request went to, in a recording whose events do not say it (before PyTorch
/// 2.12): known for memory that a private pool still holds at the end.
class PoolsAtEnd {
 public:
  PoolsAtEnd(const trace::Snapshot& snapshot, std::size_t device);

  /// The pool of a block allocated by this event. Nothing for the default pool, where it is not
  /// known, and where events name their pools.
  std::optional<trace::PoolId> pool_at(std::size_t event, trace::Address address) const;

 private:
  struct Held {
    trace::Address begin = 0;
    trace::Address end = 0;
    trace::PoolId pool;
    std::size_t since = 0;  ///< the event after the last that gave some of this range back
  };
  std::vector<Held> held_;  ///< by address
};

}  // namespace ebb::replay
