// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "sense/cgroup_place.h"

namespace ebb::sense {

/// The most that was ever charged to the group itself, file cache and kernel memory included:
/// memory.peak (Linux 5.19), memory.max_usage_in_bytes. Nothing where the kernel does not tell it,
/// as for the root group.
std::optional<std::uint64_t> peak_of_group(const CgroupPlace& place);

/// The processes of the group. Nothing where they cannot be read, or there are groups below it,
/// whose processes are charged to it too.
std::optional<std::vector<pid_t>> processes_of_group(const CgroupPlace& place);

}  // namespace ebb::sense
