// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "sense/cgroup.h"
#include "sense/machine.h"
#include "sense/pressure.h"
#include "sense/process.h"
#include "sense/roots.h"

namespace ebb::sense {

/// What sets the limit of a process.
enum class LimitSource : std::uint8_t {
  machine,        ///< physical memory
  cgroup,         ///< the tightest control group
  address_space,  ///< RLIMIT_AS
  data_size,      ///< RLIMIT_DATA
};

/// "machine", "cgroup", "address_space" or "data_size".
const char* name_of(LimitSource source);

/// What a process holds, and how full the place is that it lives in: in percent of the tightest
/// limit, be it a container's on a far greater machine.
struct MemoryInfo {
  ProcessReading process;
  MachineReading machine;
  CgroupReading cgroup;
  std::optional<PressureReading> pressure;  ///< of the group, else of the machine

  std::uint64_t limit = 0;  ///< the least of the limits that apply
  LimitSource source = LimitSource::machine;

  /// Of `limit`. In a group: memory that cannot be reclaimed, since file cache fills any container
  /// to 100 % without harm; what the kernel does not tell is replaced by the next figure below, and
  /// at last by the process's rss. Without a group's limit: what is not available on the machine.
  /// Under a resource limit: what that limit counts.
  double percent = 0;
  std::optional<double> working_set_percent;  ///< of the limiting group; the kubelet's figure
  std::optional<double> usage_percent;        ///< of the limiting group; never an alarm by itself

  /// The highest percentage over `percent` and every visible group that has a limit, soft ones
  /// included. Above `percent` where neighbours fill a group further up.
  double fullest_percent = 0;
};

/// Reads everything about a process. Fails as read_process(), read_machine() and read_cgroup() do.
base::Result<MemoryInfo> memory_info(pid_t pid = kSelf, const Roots& roots = {});

enum class MemoryLevel : std::uint8_t { normal, warn, critical };

/// "normal", "warn" or "critical".
const char* name_of(MemoryLevel level);

/// In percent of the limit; 0 < warn <= critical <= 100.
struct MemoryThresholds {
  double warn = 85;
  double critical = 90;
};

/// Code::bad_input for thresholds that are out of range or not in order.
base::Status check(const MemoryThresholds& thresholds);

/// The level by `fullest_percent`; and `warn` at least where the working set is above `critical`
/// while tasks stand still ever longer: cache that is in use all the time is no reserve.
/// Fails as check() does.
base::Result<MemoryLevel> level_of(const MemoryInfo& info, const MemoryThresholds& thresholds = {});

struct MemoryCheck {
  MemoryLevel level = MemoryLevel::normal;
  MemoryInfo info;
};

/// memory_info() and its level.
base::Result<MemoryCheck> check_memory_critical(const MemoryThresholds& thresholds = {},
                                                pid_t pid = kSelf, const Roots& roots = {});

}  // namespace ebb::sense
