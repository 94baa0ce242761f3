// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heap/thread_heaps.h"

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

/// Where glibc's arenas are among a process's mappings: [heap] and the heaps of thread arenas.
std::vector<ArenaRange> arena_ranges(const std::vector<Mapping>& mappings, const ReadMemory& read);

/// Bytes of `ranges` that are in memory, by mincore; a range that goes away meanwhile counts 0.
std::uint64_t resident_bytes(const std::vector<ArenaRange>& ranges);

}  // namespace ebb::heap
