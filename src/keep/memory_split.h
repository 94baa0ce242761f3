// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fact/group_memory.h"
#include "fact/mapped_parts.h"
#include "fact/memory_split.h"
#include "fact/private_allocator.h"
#include "fact/process_sample.h"
#include "sense/mapping_sums.h"

namespace ebb::keep {

/// What is known of one process of a control group.
struct GroupMember {
  std::int32_t pid = 0;
  std::string name;
  fact::ProcessSample memory;
  /// Of libraries' own; nothing where nobody looked for any.
  std::optional<std::vector<fact::PrivateAllocator>> private_allocators;
  std::optional<fact::MappedParts> mappings;  ///< nothing where they were not read
  bool is_python = false;
  std::uint64_t copies = 0;  ///< of pages that it shared since a fork
  /// What its code holds by place, the most first; nothing where allocations were not sampled.
  std::optional<std::vector<fact::SiteShare>> sites;
};

/// Whether a command line is that of a Python interpreter.
bool runs_python(std::string_view command);

/// Splits what a group holds among what its processes say of themselves. The kernel's counters of
/// the group are what it adds up to: a part that claims more than is left of them gets what is
/// left.
fact::MemorySplit split_of(const fact::GroupMemory& group, std::span<const GroupMember> members);

/// The least that would have carried the group on, in bytes: what can be given back, where that is
/// much; else what its largest part asks for. Clean cache is never the cause: the kernel drops it
/// first.
fact::Fix smallest_fix(const fact::MemorySplit& split);

}  // namespace ebb::keep
