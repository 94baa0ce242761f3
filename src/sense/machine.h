// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// When the kernel backs anonymous memory with huge pages.
enum class ThpMode : std::uint8_t { always, madvise, never };

/// "always", "madvise" or "never".
const char* name_of(ThpMode mode);

/// The whole machine, in bytes. In a container these are the host's figures.
struct MachineReading {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< what can be taken without swapping, cache included
  std::uint64_t free = 0;       ///< what holds nothing at all
  std::uint64_t cached = 0;
  std::uint64_t swap_total = 0;
  std::uint64_t swap_free = 0;
  std::uint64_t page_size = 0;
  std::optional<std::uint64_t> cores;  ///< online, whatever this process may use of them
  std::optional<ThpMode> thp;          ///< empty where the kernel has no huge pages
};

base::Result<MachineReading> read_machine(const Roots& roots = {});

/// The page size of this machine.
std::uint64_t page_size();

// The files behind it, for tests: text, and the file's name for messages.

base::Result<MachineReading> parse_meminfo(std::string_view text, std::string_view file);
/// "0-3,8" is 5 processors.
base::Result<std::uint64_t> parse_cpu_list(std::string_view text, std::string_view file);
/// "always [madvise] never".
base::Result<ThpMode> parse_thp(std::string_view text, std::string_view file);

}  // namespace ebb::sense
