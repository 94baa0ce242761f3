// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sense/fields.h"

namespace ebb::sense {

/// What a group and everything below it holds, in bytes. Parts that the kernel does not tell are
/// empty.
struct CgroupMemory {
  std::optional<std::uint64_t> usage;  ///< all that is charged, file cache included
  /// usage without inactive file cache, as the kubelet counts before it evicts.
  std::optional<std::uint64_t> working_set;
  /// What the kernel cannot drop: anonymous and shared memory, and the kernel's own without its
  /// reclaimable caches (v1 does not tell those apart: there all kernel memory counts). Memory that
  /// could be swapped out counts too.
  std::optional<std::uint64_t> unreclaimable;
  std::optional<std::uint64_t> anon;
  std::optional<std::uint64_t> shmem;
  std::optional<std::uint64_t> file;   ///< file cache, shared memory left out
  std::optional<std::uint64_t> dirty;  ///< of the file cache: not yet on disk
  /// The kernel's own for the group: the parts below, which v1 does not tell, and more.
  std::optional<std::uint64_t> kernel;
  std::optional<std::uint64_t> slab;
  std::optional<std::uint64_t> sockets;
  std::optional<std::uint64_t> stacks;
  std::optional<std::uint64_t> page_tables;
};

/// Fills in what memory.stat of a group says; its usage, and on v1 its kernel memory, are there
/// already. A file of v1 is known by its totals.
void take_stats(const KeyedNumbers& stat, CgroupMemory& memory);

}  // namespace ebb::sense
