// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "fact/group_memory.h"

namespace ebb::fact {

/// By whom, or by what, a job was ended. The names are in records and in JSON.
enum class Killer : std::uint8_t {
  unknown,       ///< a signal from outside, and nobody knows whose
  cgroup,        ///< the kernel: a control group was full
  machine,       ///< the kernel: the machine was full
  systemd_oomd,  ///< systemd's daemon, before the kernel has to
  rlimit_as,     ///< an allocation failed: the address space was as large as it may be
  rlimit_cpu,    ///< the kernel: its time on processors was up
  sender,        ///< a process that sent a signal to the supervisor, which passed it on
  terminal,      ///< the terminal: Ctrl-C, or it hung up
  ebb,           ///< the supervisor: memory stayed critical
};

/// "unknown", "cgroup", …
const char* name_of(Killer killer);

/// unknown for a name that none has.
Killer killer_from(std::string_view name);

/// Why a job ended that did not end by itself. What is not known is nothing.
struct Death {
  Killer by = Killer::unknown;
  double seconds = 0;         ///< since the run began
  std::optional<int> signal;  ///< that it ended with
  /// Of whom: the command itself, or one of its processes, whose end it did not outlive.
  bool of_command = true;
  std::optional<std::int32_t> pid{};
  std::string process{};  ///< its name, where only the kernel knows it

  /// The group that was full, as /proc names it from here; "" where it cannot be seen.
  std::string group{};
  std::optional<std::uint64_t> level{};    ///< 0: the job's own, 1: the one above it, …
  std::optional<std::uint64_t> limit{};    ///< bytes: of that group, or of the address space
  std::optional<std::uint64_t> reached{};  ///< bytes: the most that was seen of it
  GroupMemory memory{};  ///< of that group at that moment, where the kernel's log has it
  std::optional<double> limit_seconds{};  ///< of time on processors
  std::optional<double> used_seconds{};

  std::optional<std::int32_t> sender{};  ///< nothing where it lives in another pid namespace
  std::string sender_name{};             ///< "" where it was gone before it could be asked
  std::optional<std::uint32_t> sender_user{};

  std::vector<std::string> findings{};  ///< what it rests on and what is not known, a line each

  bool operator==(const Death&) const = default;

  /// Whether it was killed because a group or the machine had no memory left.
  bool is_out_of_memory() const;
};

/// One sentence without a full stop: "the kernel killed it, since its control group /jobs/a was
/// full (limit 256.0 MiB)".
std::string text_of(const Death& death);

/// The same in two or three words: "out of memory", "signal 15 (SIGTERM)"; "" where the exit status
/// says it.
std::string brief_of(const Death& death);

/// docs/death.md has the keys.
base::Json to_json(const Death& death);

/// Nothing where it is no such object.
std::optional<Death> death_from(const base::Json& json);

}  // namespace ebb::fact
