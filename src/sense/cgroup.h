// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sense/cgroup_memory.h"
#include "sense/cgroup_place.h"
#include "sense/roots.h"

namespace ebb::sense {

/// One group on the way from the process's own upwards.
struct CgroupLevel {
  std::string directory;
  std::optional<std::uint64_t> limit;       ///< memory.max, memory.limit_in_bytes
  std::optional<std::uint64_t> soft_limit;  ///< memory.high: above it the kernel throttles
  CgroupMemory memory;                      ///< read for the own group and for those with a limit
};

/// How often the group met its limits since it was made; v1 tells `max` and `oom_kill` only.
struct CgroupEvents {
  std::optional<std::uint64_t> high;  ///< throttled at memory.high
  std::optional<std::uint64_t> max;   ///< reached the limit; harmless where cache could be dropped
  std::optional<std::uint64_t> oom;
  std::optional<std::uint64_t> oom_kill;
};

/// Everything about the group that a process's memory is charged to.
struct CgroupReading {
  CgroupVersion version = CgroupVersion::none;  ///< none: nobody accounts it
  bool hybrid = false;                          ///< memory is on v1, and v2 is mounted beside it
  bool ancestors_hidden = false;                ///< see CgroupPlace
  std::string group;                            ///< as /proc/PID/cgroup names it
  std::vector<CgroupLevel> levels;              ///< the own group, then its visible ancestors

  /// The tightest hard limit over all of them, and on v1 over the hidden ones as well.
  std::optional<std::uint64_t> limit;
  /// The level that sets `limit`; empty where that is a hidden ancestor or there is no limit.
  std::optional<std::size_t> limiting;
  std::optional<std::uint64_t> soft_limit;  ///< the tightest of memory.high
  std::optional<std::uint64_t> swap_limit;  ///< the tightest limit of swap alone

  CgroupEvents events;                       ///< of the own group
  std::optional<std::string> pressure_file;  ///< the group's memory.pressure

  /// What the own group holds.
  CgroupMemory memory() const { return levels.empty() ? CgroupMemory{} : levels.front().memory; }
};

/// Reads the group at `place`. A group that is removed meanwhile, or files that this kernel does
/// not have, leave parts empty; garbage in a file is Code::bad_input with its name and content.
base::Result<CgroupReading> read_cgroup(const CgroupPlace& place);

/// Finds the group of a process and reads it.
base::Result<CgroupReading> read_cgroup(pid_t pid = kSelf, const Roots& roots = {});

}  // namespace ebb::sense
