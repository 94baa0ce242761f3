// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sense/cgroup_place.h"
#include "sense/roots.h"

namespace ebb::sense {

/// What one control group counts of its ends of memory, since it was made. What it does not tell is
/// nothing.
struct LevelKills {
  std::string group;  ///< as /proc/PID/cgroup names it
  std::optional<std::uint64_t> limit;
  /// How often it was full, and nothing could be dropped. v1 does not tell.
  std::optional<std::uint64_t> full;
  /// How often it reached its limit; harmless where cache could be dropped.
  std::optional<std::uint64_t> reached;
  /// Its processes that the kernel killed for memory, whoever was full: this group, one above it,
  /// the machine. Those of groups below it count on v2 where the kernel keeps no count of its own.
  std::optional<std::uint64_t> killed;
  /// Processes that systemd-oomd killed in it, written once it has killed; and how often it set out
  /// to do so.
  std::optional<std::uint64_t> oomd_killed;
  std::optional<std::uint64_t> oomd_kills;
};

/// Counts of kills for memory, from the group that a process is charged to upwards. Read twice, the
/// difference tells who killed.
struct KillCounts {
  CgroupVersion version = CgroupVersion::none;
  bool ancestors_hidden = false;
  std::size_t unaccounted = 0;  ///< see CgroupPlace: so far above the own group the levels begin
  std::vector<LevelKills> levels;
  std::optional<std::uint64_t> machine;  ///< of all of them, since the machine booted
};

/// Reads what can be read.
KillCounts read_kill_counts(const CgroupPlace& place, const Roots& roots = {});

/// Two readings of one place as one: of each level the later, or what the earlier has of it where
/// the group was removed meanwhile.
KillCounts later_of(KillCounts earlier, KillCounts later);

}  // namespace ebb::sense
