// SPDX-License-Identifier: Apache-2.0
#include "heap/installed.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "heap/elf.h"
#include "heap/library_cache.h"

namespace ebb::heap {
namespace {

struct Library {
  AllocatorKind kind;
  const char* stem;  // file names that start so, "libjemalloc.so" and "libjemalloc.so.2"
};

// tcmalloc_minimal first: the full library adds a heap profiler that a long job does not need.
constexpr Library kLibraries[] = {
    {AllocatorKind::jemalloc, "libjemalloc.so"},
    {AllocatorKind::tcmalloc, "libtcmalloc_minimal.so"},
    {AllocatorKind::tcmalloc, "libtcmalloc.so"},
    {AllocatorKind::mimalloc, "libmimalloc.so"},
};

constexpr const char* kFolders[] = {"/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib"};

/// Candidates in the order in which they should be tried.
std::vector<std::string> candidates(const std::string& stem, const std::string& root) {
  std::vector<std::string> paths;
  if (const auto cache = base::read_file(root + "/etc/ld.so.cache")) {
    if (const auto libraries = parse_library_cache(*cache)) {
      for (const CachedLibrary& library : *libraries)
        if (library.soname.starts_with(stem)) paths.push_back(library.path);
    }
  }
  std::vector<std::string> folders;
  for (const char* folder : kFolders) {
    folders.emplace_back(folder);
    for (const auto& [name, is_folder] :
         base::read_folder(root + folder).value_or(base::FolderEntries{})) {
      if (name.find("-linux-") != std::string::npos)  // x86_64-linux-gnu, aarch64-linux-gnu, …
        folders.push_back(std::string(folder) + "/" + name);
    }
  }
  for (const std::string& folder : folders) {
    std::vector<std::string> found;
    for (const auto& [name, is_folder] :
         base::read_folder(root + folder).value_or(base::FolderEntries{})) {
      if (name.starts_with(stem)) found.push_back(folder + "/" + name);
    }
    std::sort(found.begin(), found.end());  // the shortest soname first
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

}  // namespace

base::Result<InstalledAllocator> find_installed(AllocatorKind kind, const std::string& root) {
  base::Result<ElfFile> self = ElfFile::open("/proc/self/exe");
  std::optional<base::Error> hindrance;
  if (!self && self.error().code == base::Code::io) hindrance = self.error();
  for (const Library& library : kLibraries) {
    if (library.kind != kind) continue;
    for (const std::string& path : candidates(library.stem, root)) {
      base::Result<ElfFile> file = ElfFile::open(root + path);
      if (!file && file.error().code == base::Code::io) hindrance = file.error();
      if (!file || !file->defined_dynamically("malloc")) continue;
      if (self && file->machine() != self->machine()) continue;
      return InstalledAllocator{kind, path, file->read_only_data_contains("purge_delay")};
    }
  }
  if (hindrance) {
    return base::error(base::Code::io, "cannot look for %s: %s", name_of(kind),
                       hindrance->message.c_str());
  }
  return base::error(base::Code::unavailable, "%s is not installed: %s", name_of(kind),
                     how_to_install(kind));
}

const char* how_to_install(AllocatorKind kind) {
  switch (kind) {
    case AllocatorKind::jemalloc:
      return "apt install libjemalloc2, dnf install jemalloc or apk add jemalloc";
    case AllocatorKind::tcmalloc:
      return "apt install libtcmalloc-minimal4, dnf install gperftools-libs or apk add gperftools";
    case AllocatorKind::mimalloc:
      return "apt install libmimalloc2.0, dnf install mimalloc or apk add mimalloc";
    default:
      return "it comes with no package that Ebb knows";
  }
}

}  // namespace ebb::heap
