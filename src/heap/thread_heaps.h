// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "heap/mappings.h"

namespace ebb::heap {

/// An address range that glibc's arenas live in.
struct ArenaRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  friend bool operator==(const ArenaRange&, const ArenaRange&) = default;
};

/// Copies `size` bytes at `address` to `target`; false where they cannot be read.
using ReadMemory = std::function<bool(std::uint64_t address, void* target, std::size_t size)>;

/// Reads this process's own memory, and never faults: memory that another thread unmaps meanwhile
/// cannot be read, no more.
bool read_own_memory(std::uint64_t address, void* target, std::size_t size);

/// The heaps of glibc's thread arenas, known by the header that glibc keeps at the start of each:
/// at a multiple of 64 MiB, how far the heap has grown, and whose it is. How it is mapped says
/// nothing: huge pages split a heap's mapping, a full one has no reserved tail, neighbours are
/// joined.
std::vector<ArenaRange> thread_heaps(const std::vector<Mapping>& mappings, const ReadMemory& read);

}  // namespace ebb::heap
