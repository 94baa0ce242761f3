// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heap/mappings.h"

namespace ebb::heap {

/// What malloc_info(3) says of all arenas together.
struct MallocInfo {
  unsigned arenas = 0;
  std::uint64_t system = 0;   ///< bytes the arenas hold from the system
  std::uint64_t free = 0;     ///< bytes of it in bins and tops, resident or not
  std::uint64_t mmapped = 0;  ///< bytes in mappings of their own, one per large allocation
};

/// Reads the XML of malloc_info; nothing where it is not that XML.
std::optional<MallocInfo> parse_malloc_info(std::string_view xml);

/// An address range that glibc's arenas live in.
struct ArenaRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// The heaps of glibc's arenas among a process's mappings: [heap], and the thread heaps, which
/// start at a multiple of 64 MiB, are readable and writable up to where they have grown, and are
/// reserved (no access) from there to the next multiple.
std::vector<ArenaRange> arena_ranges(const std::vector<Mapping>& mappings);

/// Bytes of `ranges` that are in memory, by mincore; a range that goes away meanwhile counts 0.
std::uint64_t resident_bytes(const std::vector<ArenaRange>& ranges);

}  // namespace ebb::heap
