// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::heap {

/// One line of /proc/PID/maps.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  std::uint64_t inode = 0;
  std::string name;  ///< path, "[heap]", "[anon:…]" or empty

  std::uint64_t size() const { return end - start; }
};

/// Parses the text of a maps file. Code::bad_input names the line that is not one.
base::Result<std::vector<Mapping>> parse_mappings(std::string_view text);

/// Reads and parses `maps_path`, e.g. /proc/self/maps.
base::Result<std::vector<Mapping>> read_mappings(const std::string& maps_path);

/// Of this process, also where its first thread has ended and the kernel shows nothing under its
/// number any more.
base::Result<std::vector<Mapping>> read_own_mappings();

}  // namespace ebb::heap
