// SPDX-License-Identifier: Apache-2.0
#include "run/target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "heap/elf.h"

namespace ebb::run {
namespace {

// A script whose interpreter is a script: the kernel follows four.
constexpr int kDeepestScript = 5;

bool is_runnable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string look_up(const std::string& command, const std::string& search_path) {
  if (command.find('/') != std::string::npos) return command;
  for (const std::string_view folder : base::split(search_path, ':')) {
    std::string path = (folder.empty() ? std::string(".") : std::string(folder)) + "/" + command;
    if (is_runnable(path)) return path;
  }
  return {};
}

/// The interpreter that a script names, and what it is asked to run (`/usr/bin/env python3`).
struct Shebang {
  std::string interpreter;
  std::string argument;
};

std::optional<Shebang> shebang_of(const std::string& path) {
  const base::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char head[256];
  const ssize_t got = file.is_open() ? ::read(file.get(), head, sizeof head) : -1;
  if (got < 3 || head[0] != '#' || head[1] != '!') return std::nullopt;
  std::string_view line(head + 2, static_cast<std::size_t>(got) - 2);
  line = line.substr(0, line.find('\n'));
  const auto words = base::words(line);
  if (words.empty()) return std::nullopt;
  return Shebang{std::string(words[0]), words.size() > 1 ? std::string(words[1]) : std::string()};
}

}  // namespace

std::string why_no_agent_in(const std::string& program) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0) return "it cannot be read";
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid())
    return "it runs with another user's rights (setuid)";
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid())
    return "it runs with another group's rights (setgid)";
  if (::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0)
    return "it runs with capabilities of its own";
  const auto elf = heap::ElfFile::open(program);
  if (!elf) return "it is not a 64-bit program";
  if (elf->interpreter().empty()) return "it is static: nothing can be preloaded";
  if (elf->interpreter().find("ld-musl") != std::string::npos)
    return "it runs on musl, the agent on glibc";
  const auto self = heap::ElfFile::open("/proc/self/exe");
  if (self && self->machine() != elf->machine()) return "it is for another processor";
  return {};
}

std::string why_no_sites_in(const std::string& program) {
  auto elf = heap::ElfFile::open(program);
  if (!elf) return {};
  constexpr const char* kSanitizer = "it is built with a sanitizer, which has the malloc";
  for (const std::string& library : elf->needed())
    for (const char* runtime : {"libasan.", "libtsan.", "libmsan.", "liblsan.", "libclang_rt."})
      if (library.starts_with(runtime)) return kSanitizer;
  for (const char* linked : {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init"})
    if (elf->defined_dynamically(linked)) return kSanitizer;
  // Its own definition comes before any that is preloaded.
  if (elf->defined_dynamically("malloc")) return "its allocator is linked into the program";
  return {};
}

Target find_target(const std::string& command, const std::string& search_path) {
  Target target;
  target.path = look_up(command, search_path);
  target.program = target.path;
  for (int depth = 0; depth < kDeepestScript && !target.program.empty(); ++depth) {
    const auto script = shebang_of(target.program);
    if (!script) break;
    const bool by_env = script->interpreter.ends_with("/env") && !script->argument.empty() &&
                        script->argument[0] != '-';
    target.program = by_env ? look_up(script->argument, search_path) : script->interpreter;
  }
  target.no_agent = target.program.empty() ? "it was not found" : why_no_agent_in(target.program);
  return target;
}

}  // namespace ebb::run
