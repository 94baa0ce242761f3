// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "fact/diagnosis.h"

namespace ebb::fact {

/// A place in the code and what it holds: bytes that were asked for, touched or not.
struct SiteShare {
  std::string place;
  std::uint64_t bytes = 0;

  bool operator==(const SiteShare&) const = default;
};

/// What the memory of a control group was at one moment, in bytes. The parts that are known and
/// `unexplained` add up to `usage`; a part that is not known is no number, and lies in
/// `unexplained` where it is any.
struct MemorySplit {
  /// The share of one process in the anonymous memory, pages that it shares divided by the sharers
  /// and copies that it made since a fork left out.
  struct Share {
    std::int32_t pid = 0;
    std::string name;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> live;       ///< of that
    std::optional<std::uint64_t> untouched;  ///< asked of malloc and never written to: beside that
    /// The places in its code that hold most; nothing where allocations were not sampled.
    std::optional<std::vector<SiteShare>> sites;

    bool operator==(const Share&) const = default;
  };

  double seconds = 0;         ///< since the run began, where there is one
  std::optional<double> age;  ///< seconds before the end
  std::uint64_t usage = 0;
  std::optional<std::uint64_t> limit;

  std::vector<Share> processes;                     ///< the largest first
  std::optional<std::uint64_t> live;                ///< of malloc, as far as it was touched
  std::optional<std::uint64_t> untouched;           ///< the rest of it, which is no part of usage
  std::optional<std::uint64_t> retained;            ///< of malloc
  std::optional<std::uint64_t> private_allocators;  ///< of libraries' own
  std::optional<std::uint64_t> python;              ///< arenas of Python's small objects
  std::optional<std::uint64_t> copies;              ///< of pages that were shared since a fork
  std::optional<std::uint64_t> supervisor;          ///< `ebb run` itself
  std::optional<std::uint64_t> shared;              ///< shared memory that processes have mapped
  std::optional<std::uint64_t> tmpfs;               ///< files in memory that nobody has mapped
  std::optional<std::uint64_t> cache_dirty;         ///< of files on disk: to be written first
  std::optional<std::uint64_t> cache_clean;         ///< the kernel drops it before it kills
  std::optional<std::uint64_t> slab;                ///< the kernel's objects
  std::optional<std::uint64_t> sockets;
  std::optional<std::uint64_t> kernel_stacks;
  std::optional<std::uint64_t> page_tables;
  std::optional<std::uint64_t> kernel_other;
  std::uint64_t unexplained = 0;

  std::optional<std::int64_t> after;  ///< what came between this moment and the end
  std::vector<std::string> notes;     ///< what is not known, and where it is then
  Fix fix;                            ///< the least that would have carried it on

  /// The parts under their names, in the order in which they are shown; `unexplained` is the last.
  struct Part {
    const char* name;   ///< in JSON, with the suffix _bytes
    const char* label;  ///< for people
    std::optional<std::uint64_t> bytes;
  };
  std::vector<Part> parts() const;
};

/// docs/death.md has the keys.
base::Json to_json(const MemorySplit& split);

}  // namespace ebb::fact
