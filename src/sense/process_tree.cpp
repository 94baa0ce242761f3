// SPDX-License-Identifier: Apache-2.0
#include "sense/process_tree.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "sense/process_text.h"

namespace ebb::sense {

base::Result<std::vector<pid_t>> descendants_of(pid_t root, const Roots& roots) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(roots.proc.c_str()), &::closedir);
  if (folder == nullptr) return base::system_error(errno, "cannot list %s", roots.proc.c_str());
  std::multimap<pid_t, pid_t> children;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = base::parse_unsigned(entry->d_name);
    if (!pid || *pid > INT32_MAX) continue;
    const std::string file = roots.proc + "/" + entry->d_name + "/stat";
    const auto text = base::read_file(file, 1 << 16);
    if (!text) continue;  // it ended meanwhile
    const auto stat = parse_stat(*text, file);
    if (stat) children.emplace(stat->parent, static_cast<pid_t>(*pid));
  }
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    // The files are read one after the other: a pid given anew meanwhile could close a circle.
    for (auto child = first; child != last; ++child) {
      if (std::find(found.begin(), found.end(), child->second) == found.end())
        found.push_back(child->second);
    }
  }
  found.erase(found.begin());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace ebb::sense
