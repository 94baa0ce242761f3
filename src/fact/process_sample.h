// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

// fact: what was measured and found, as plain data. The same structs travel from the process that
// measures to the page that shows it; no layer has a form of its own.

namespace ebb::fact {

/// What was measured of one process at one time, in bytes. What was not measured, or could not be,
/// is nothing: no number stands for it.
struct ProcessSample {
  std::optional<std::uint64_t> rss;
  std::optional<std::uint64_t> anon;   ///< resident: heaps, stacks
  std::optional<std::uint64_t> file;   ///< resident: mapped files
  std::optional<std::uint64_t> shmem;  ///< resident: shared memory
  std::optional<std::uint64_t> swap;   ///< anonymous memory that was swapped out
  std::optional<std::uint64_t> pss;    ///< rss with shared pages divided by their sharers
  std::optional<std::uint64_t> uss;    ///< what would be free if it ended now
  std::optional<std::uint64_t>
      shared;                         ///< anonymous memory that sharing it saves: anon less its pss
  std::optional<std::uint64_t> live;  ///< allocated and not freed, as the allocator says
  std::optional<std::uint64_t> retained;  ///< resident, held by the allocator, not live

  bool operator==(const ProcessSample&) const = default;

  /// Anonymous memory, resident or swapped out.
  std::optional<std::uint64_t> held() const {
    if (!anon) return std::nullopt;
    return *anon + swap.value_or(0);
  }

  /// What of that the allocator does not account for: memory beside malloc. Nothing where it does
  /// not count what it holds.
  std::optional<std::uint64_t> beside() const {
    if (!anon || !live || !retained) return std::nullopt;
    const std::uint64_t all = *held();
    return all - std::min(all, *live + *retained);
  }
};

}  // namespace ebb::fact
