// SPDX-License-Identifier: Apache-2.0
#include "run/own_children.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/file.h"

namespace ebb::run {
namespace {

/// Of one that has not ended; 0 otherwise.
pid_t parent_of(pid_t pid) {
  char name[40];
  std::snprintf(name, sizeof name, "/proc/%d/stat", static_cast<int>(pid));
  const base::FileDescriptor file(::open(name, O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t got = file.is_open() ? ::read(file.get(), text, sizeof text) : 0;
  if (got <= 0) return 0;
  const std::string_view stat(text, static_cast<std::size_t>(got));
  // "pid (name) S parent …": the name may hold anything.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 >= stat.size()) return 0;
  pid_t parent = 0;
  std::from_chars(stat.data() + name_end + 4, stat.data() + stat.size(), parent);
  return parent;
}

struct Entry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

}  // namespace

void signal_children(int number) noexcept {
  // opendir() would ask for memory.
  const base::FileDescriptor folder(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return;
  const pid_t self = ::getpid();
  alignas(Entry) char entries[4096];
  long got = 0;
  while ((got = ::syscall(SYS_getdents64, folder.get(), entries, sizeof entries)) > 0) {
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      at += entry->size;
      pid_t pid = 0;
      const char* end = entry->name + std::strlen(entry->name);
      if (std::from_chars(entry->name, end, pid).ptr != end || pid <= 0) continue;
      if (parent_of(pid) == self) ::kill(pid, number);
    }
  }
}

}  // namespace ebb::run
