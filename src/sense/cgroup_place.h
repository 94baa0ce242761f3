// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// Which version of control groups accounts memory for a process.
enum class CgroupVersion : std::uint8_t { none, v1, v2 };

/// "none", "v1" or "v2".
const char* name_of(CgroupVersion version);

/// Where a process's memory is accounted. Stays valid until the process is moved.
struct CgroupPlace {
  CgroupVersion version = CgroupVersion::none;
  bool hybrid = false;  ///< memory is on v1, and v2 is mounted beside it
  std::string group;    ///< as /proc/PID/cgroup names it
  /// The group that is charged, then its ancestors as far as they can be seen. Empty where the
  /// group lies outside of what is mounted here, or was removed.
  std::vector<std::string> directories;
  /// v2: so many groups, from `group` upwards, have no account of their own; what they hold is
  /// charged to the first of `directories`, which stands as many levels above `group`.
  std::size_t unaccounted = 0;
  /// There are groups above the last directory that this process cannot see, as in a container
  /// with a private cgroup namespace; their limits apply all the same.
  bool ancestors_hidden = false;
  std::string pressure_file;  ///< memory.pressure of the process's v2 group, or empty
};

/// The group `levels` above the first of its directories, as /proc/PID/cgroup would name it.
std::string group_above(const CgroupPlace& place, std::size_t levels);

/// Finds it through /proc/PID/cgroup and the mounts that the calling process sees: the kernel
/// writes both in the caller's terms, whatever namespaces the process itself is in. A machine
/// without control groups is a place with version none. Code::not_found when there is no such
/// process, Code::bad_input for files that are not what the kernel writes.
base::Result<CgroupPlace> find_cgroup(pid_t pid = kSelf, const Roots& roots = {});

}  // namespace ebb::sense
