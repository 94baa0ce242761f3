// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ebb::sense {

// The files of /proc/PID as values. Each parser takes the text and the file's name for messages.

/// /proc/PID/status. A kernel thread or an ended process has none of the memory fields; kernels in
/// user space (gVisor) tell `rss`, `virtual_size` and `data` only. All in bytes.
struct StatusText {
  pid_t pid = 0;
  char state = '?';
  std::uint64_t threads = 0;
  std::optional<std::uint64_t> virtual_size, virtual_peak, rss, hwm, anon, file, shmem, data, swap,
      locked;
};
base::Result<StatusText> parse_status(std::string_view text, std::string_view file);

/// /proc/PID/stat, the part that is used.
struct StatText {
  char state = '?';  ///< the kernel's letter
  pid_t parent = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::uint64_t cpu_ticks = 0;     ///< user and system
  std::uint64_t system_ticks = 0;  ///< of these, in the kernel
  std::uint64_t start_ticks = 0;   ///< since boot
  std::uint64_t threads = 0;       ///< those that have ended and wait for others among them
  std::uint64_t flags = 0;         ///< PF_…, of the kernel's own

  bool has_ended() const { return state == 'Z' || state == 'X'; }
  bool is_ending() const { return (flags & 0x4) != 0; }  ///< PF_EXITING
};
base::Result<StatText> parse_stat(std::string_view text, std::string_view file);

/// /proc/PID/statm: the resident pages. Allocates nothing on success.
base::Result<std::uint64_t> parse_statm(std::string_view text, std::string_view file);

/// /proc/PID/smaps_rollup, in bytes.
struct RollupText {
  std::uint64_t rss = 0;
  std::uint64_t pss = 0;
  std::uint64_t uss = 0;
  std::uint64_t anon_huge = 0;
  std::optional<std::uint64_t> shared;  ///< Anonymous less Pss_Anon, where the kernel tells both
};
base::Result<RollupText> parse_smaps_rollup(std::string_view text, std::string_view file);

/// /proc/PID/limits: the soft limits that bound memory; nothing where unlimited.
struct LimitsText {
  std::optional<std::uint64_t> address_space;
  std::optional<std::uint64_t> data_size;
};
base::Result<LimitsText> parse_limits(std::string_view text, std::string_view file);

}  // namespace ebb::sense
