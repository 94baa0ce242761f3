// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ebb::fact {

/// What of a process's memory can be told by its mappings, and what its interpreter counts, in
/// bytes: parts of its ledger that no counter of the kernel has.
struct MappedParts {
  std::optional<std::uint64_t> stacks;  ///< of all threads
  std::optional<std::uint64_t> pinned;  ///< host memory that CUDA's driver has allocated
  std::uint64_t pinned_shared = 0;      ///< of that, what the kernel counts as shared memory
  std::optional<std::uint64_t> python;  ///< arenas of Python's small objects

  bool operator==(const MappedParts&) const = default;
};

}  // namespace ebb::fact
