// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/json.h"

namespace ebb::fact {

/// What a control group and everything below it held at one moment, in bytes, as the kernel counts
/// it. What it does not tell is nothing.
struct GroupMemory {
  std::optional<std::uint64_t> usage;   ///< all that is charged to it
  std::optional<std::uint64_t> anon;    ///< of processes: heaps, stacks
  std::optional<std::uint64_t> shmem;   ///< shared memory, and files in tmpfs
  std::optional<std::uint64_t> cache;   ///< pages of files on disk
  std::optional<std::uint64_t> dirty;   ///< of that, not yet written
  std::optional<std::uint64_t> kernel;  ///< the kernel's own for it: what follows, and more
  std::optional<std::uint64_t> slab;
  std::optional<std::uint64_t> sockets;
  std::optional<std::uint64_t> stacks;
  std::optional<std::uint64_t> page_tables;
  std::optional<std::uint64_t> supervisor;  ///< of anon, what `ebb run` itself has in it

  bool operator==(const GroupMemory&) const = default;
};

/// One part, as it is called in records and, with the suffix _bytes, in JSON.
struct GroupPart {
  const char* name;
  std::optional<std::uint64_t> GroupMemory::*bytes;
};
inline constexpr std::array<GroupPart, 11> kGroupParts{{
    {"usage", &GroupMemory::usage},
    {"anon", &GroupMemory::anon},
    {"shmem", &GroupMemory::shmem},
    {"cache", &GroupMemory::cache},
    {"dirty", &GroupMemory::dirty},
    {"kernel", &GroupMemory::kernel},
    {"slab", &GroupMemory::slab},
    {"sockets", &GroupMemory::sockets},
    {"stacks", &GroupMemory::stacks},
    {"page_tables", &GroupMemory::page_tables},
    {"supervisor", &GroupMemory::supervisor},
}};

base::Json to_json(const GroupMemory& memory);
GroupMemory group_memory_from(const base::Json& json);

}  // namespace ebb::fact
