// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ebb::base {
namespace {

bool is_folder(const std::string& folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat about {};
  return ::lstat((folder + "/" + entry.d_name).c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace

Result<std::vector<FolderEntry>> entries_of(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (open == nullptr) return system_error(errno, "cannot list %s", folder.c_str());
  std::vector<FolderEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr && errno != 0)
      return system_error(errno, "cannot list %s", folder.c_str());
    if (entry == nullptr) return entries;
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    entries.push_back({entry->d_name, is_folder(folder, *entry)});
  }
}

}  // namespace ebb::base
