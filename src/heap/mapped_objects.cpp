// SPDX-License-Identifier: Apache-2.0
#include "heap/mapped_objects.h"

#include <unistd.h>

#include <set>

#include "base/text.h"

namespace ebb::heap {
namespace {

/// map_files survives deletion and other mount namespaces but may be refused; the path through the
/// process's root is the next best.
std::string reachable_path(const std::string& directory, const Mapping& mapping) {
  const std::string exact = base::format_text("%s/map_files/%llx-%llx", directory.c_str(),
                                              static_cast<unsigned long long>(mapping.start),
                                              static_cast<unsigned long long>(mapping.end));
  if (::access(exact.c_str(), R_OK) == 0) return exact;
  return directory + "/root" + mapping.name;
}

}  // namespace

std::vector<MappedObject> mapped_objects(const std::string& directory,
                                         const std::vector<Mapping>& mappings) {
  std::vector<MappedObject> objects;
  std::set<std::string> seen;
  for (const Mapping& mapping : mappings) {
    if (!mapping.executable || mapping.name.empty() || mapping.name[0] != '/') continue;
    if (seen.insert(mapping.name).second)
      objects.push_back({mapping.name, reachable_path(directory, mapping)});
  }
  return objects;
}

base::Result<std::vector<Mapping>> mappings_of(int pid, const std::string& proc) {
  using base::Code;
  const std::string directory = base::format_text("%s/%d", proc.c_str(), pid);
  if (::access(directory.c_str(), F_OK) != 0)
    return base::error(Code::not_found, "no process with pid %d", pid);
  base::Result<std::vector<Mapping>> mappings = read_mappings(directory + "/maps");
  if (!mappings && mappings.error().code == Code::not_permitted)
    return base::error(Code::not_permitted,
                       "pid %d belongs to somebody else: its maps cannot be read", pid);
  if (mappings && mappings->empty())
    return base::error(Code::not_found, "pid %d has no memory: it ended or is a kernel thread",
                       pid);
  return mappings;
}

base::Result<std::vector<MappedObject>> mapped_objects(int pid, const std::string& proc) {
  const base::Result<std::vector<Mapping>> mappings = mappings_of(pid, proc);
  if (!mappings) return mappings.error();
  return mapped_objects(base::format_text("%s/%d", proc.c_str(), pid), *mappings);
}

}  // namespace ebb::heap
