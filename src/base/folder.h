// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ebb::base {

struct FolderEntry {
  std::string name;
  bool is_folder = false;  ///< itself; a link is none
};

/// What is in a folder, in no particular order. Throws std::bad_alloc where memory is out, as all
/// else does; the iterators of std::filesystem end the process then (libstdc++ 12).
Result<std::vector<FolderEntry>> entries_of(const std::string& folder);

}  // namespace ebb::base
