// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

namespace ebb::base {
namespace {

bool is_folder(DIR* parent, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return entry.d_type == DT_DIR;
  struct stat status {};
  return ::fstatat(::dirfd(parent), entry.d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

std::optional<FolderEntries> read_folder(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (folder == nullptr) {
    if (errno == ENOMEM) throw std::bad_alloc();
    return std::nullopt;
  }
  FolderEntries entries;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      entries.push_back({std::string(name), is_folder(folder.get(), *entry)});
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  return entries;
}

}  // namespace ebb::base
