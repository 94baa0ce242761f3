// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "heap/mappings.h"

namespace ebb::heap {

/// A file that a process has mapped executable, and how to open it from here.
struct MappedObject {
  std::string path;       ///< as the process sees it
  std::string reachable;  ///< as we do
};

/// Each file once, in order of address. `directory` is the process's in the proc file system.
std::vector<MappedObject> mapped_objects(const std::string& directory,
                                         const std::vector<Mapping>& mappings);

/// Those of one process. Code::not_found for no such process or one without memory,
/// Code::not_permitted for one whose maps are not ours to read.
base::Result<std::vector<MappedObject>> mapped_objects(int pid, const std::string& proc);

/// The mappings of another process, with the same failures.
base::Result<std::vector<Mapping>> mappings_of(int pid, const std::string& proc);

}  // namespace ebb::heap
