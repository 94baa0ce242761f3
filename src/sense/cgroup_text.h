// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::sense {

// The files that say where a process's control group is and what it may use, as values. Each parser
// takes the text and the file's name for messages.

/// /proc/PID/cgroup: the process's group in the hierarchies that matter for memory.
struct GroupNames {
  std::optional<std::string> memory_v1;  ///< in the v1 hierarchy with the memory controller
  std::optional<std::string> unified;    ///< in the v2 hierarchy
};
base::Result<GroupNames> parse_group_names(std::string_view text, std::string_view file);

/// A place where a hierarchy is mounted: the group `root` is visible at `point`.
struct CgroupMount {
  bool v2 = false;
  std::string root;
  std::string point;
};

/// /proc/PID/mountinfo: the mounts of v2 and of v1's memory controller, in order.
base::Result<std::vector<CgroupMount>> parse_cgroup_mounts(std::string_view text,
                                                           std::string_view file);

/// A limit: "max", and the number near 2^63 by which v1 says the same, are none.
base::Result<std::optional<std::uint64_t>> parse_limit(std::string_view text,
                                                       std::string_view file);

/// As a limit that a key of memory.stat gives.
std::optional<std::uint64_t> limit_from(std::uint64_t bytes);

/// A file with one number.
base::Result<std::uint64_t> parse_number(std::string_view text, std::string_view file);

}  // namespace ebb::sense
