// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ebb::base {

struct FolderEntry {
  std::string name;
  bool is_folder = false;  ///< also where it is a link to one
};

using FolderEntries = std::vector<FolderEntry>;

/// What is in a folder, in no order, without "." and ".."; nothing where it cannot be read to its
/// end. Without memory it throws std::bad_alloc. The iterators of std::filesystem end the process
/// then: libstdc++ allocates the names in functions that are noexcept. So nobody uses them.
std::optional<FolderEntries> read_folder(const std::string& path);

}  // namespace ebb::base
