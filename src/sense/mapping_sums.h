// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// What a process's mappings hold that can be told by their names or by who stands in them, in
/// bytes, resident or swapped out.
struct MappingSums {
  /// Of all threads; nothing where it is not known of one of them where its stack is: it was
  /// running.
  std::optional<std::uint64_t> stacks;
  /// Host memory that CUDA's driver has allocated: of it `pinned_shared` is counted as shared
  /// memory by the kernel, the rest as files. Nothing where the process does not use the driver.
  /// Memory of malloc that was registered with the driver later is not in it: nothing tells.
  std::optional<std::uint64_t> pinned;
  std::uint64_t pinned_shared = 0;
  /// Arenas of Python's small objects, where the interpreter names them to the kernel (3.15 and
  /// later); nothing where no mapping bears such a name.
  std::optional<std::uint64_t> python;
};

/// By thread, a place in its stack, as far as it ever waited while it was looked at. A stack never
/// moves.
using StackPointers = std::map<pid_t, std::uint64_t>;

/// Walks the page tables: some ten milliseconds per GiB under the process's mmap lock, so ask
/// seldom. `seen`: what earlier readings of the same process found out about threads that run now;
/// brought up to date. Code::not_found, Code::not_permitted as for all readings of a process.
base::Result<MappingSums> read_mapping_sums(pid_t pid = kSelf, const Roots& roots = {},
                                            StackPointers* seen = nullptr);

/// Out of the text of smaps. `stack_pointers`: one in the stack of each thread but the main one.
base::Result<MappingSums> parse_mapping_sums(std::string_view smaps,
                                             std::span<const std::uint64_t> stack_pointers,
                                             std::string_view file);

}  // namespace ebb::sense
