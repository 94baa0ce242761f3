// SPDX-License-Identifier: Apache-2.0
#include "heap/installed.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "heap/elf.h"
#include "heap/library_cache.h"

namespace ebb::heap {
namespace {

struct Library {
  AllocatorKind kind;
  const char* stem;     // file names that start so …
  const char* package;  // … come with this package on Debian
};

// tcmalloc_minimal first: the full library adds a heap profiler that a long job does not need.
constexpr Library kLibraries[] = {
    {AllocatorKind::jemalloc, "libjemalloc.so.", "libjemalloc2"},
    {AllocatorKind::tcmalloc, "libtcmalloc_minimal.so.", "libtcmalloc-minimal4"},
    {AllocatorKind::tcmalloc, "libtcmalloc.so.", "libgoogle-perftools4"},
    {AllocatorKind::mimalloc, "libmimalloc.so.", "libmimalloc2.0"},
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
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(root + folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.find("-linux-") != std::string::npos)  // x86_64-linux-gnu, aarch64-linux-gnu, …
        folders.push_back(std::string(folder) + "/" + name);
    }
  }
  for (const std::string& folder : folders) {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(root + folder, ignored)) {
      const std::string name = entry.path().filename().string();
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
  const char* package = nullptr;
  for (const Library& library : kLibraries) {
    if (library.kind != kind) continue;
    if (package == nullptr) package = library.package;
    for (const std::string& path : candidates(library.stem, root)) {
      base::Result<ElfFile> file = ElfFile::open(root + path);
      if (!file || !file->defined_dynamically("malloc")) continue;
      if (self && file->machine() != self->machine()) continue;
      return InstalledAllocator{kind, path, file->read_only_data_contains("purge_delay")};
    }
  }
  EBB_CHECK(package != nullptr);
  return base::error(base::Code::unavailable,
                     "%s is not installed: install the package %s (Debian)", name_of(kind),
                     package);
}

}  // namespace ebb::heap
