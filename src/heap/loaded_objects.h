// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ebb::heap {

/// A program or library in this process, and where it lies.
struct LoadedObject {
  std::string file;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// All of them in the linker's order, the program first. The linker names the program as it was
/// started, which may no longer lead anywhere: it gets a name that always does.
std::vector<LoadedObject> loaded_objects();

/// How many objects were ever loaded into this process: where it stays, so does the list.
std::uint64_t objects_ever_loaded();

}  // namespace ebb::heap
