// SPDX-License-Identifier: Apache-2.0
#include "record/liveness.h"

#include <unistd.h>

#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace ebb::record {
namespace {

/// Field 22 of /proc/PID/stat, nothing for a zombie. The command before it may hold anything,
/// blanks and brackets too.
std::string start_of(const std::string& pid) {
  const auto text = base::read_file("/proc/" + pid + "/stat");
  if (!text) return {};
  const std::size_t end = text->rfind(')');
  if (end == std::string::npos) return {};
  const std::vector<std::string_view> fields = base::words(std::string_view(*text).substr(end + 1));
  const bool is_there = fields.size() > 19 && fields[0] != "Z" && fields[0] != "X";
  return is_there ? std::string(fields[19]) : std::string{};
}

/// Another one each time that the machine starts.
std::string this_boot() {
  const auto boot = base::read_file("/proc/sys/kernel/random/boot_id");
  return boot ? std::string(base::trimmed(*boot)) : std::string{};
}

/// What makes a pid mean the same process.
std::string place() {
  const std::string boot = this_boot();
  char name[64];
  const ssize_t size = ::readlink("/proc/self/ns/pid", name, sizeof name);
  if (boot.empty() || size <= 0) return {};
  return boot + "/" + std::string(name, static_cast<std::size_t>(size));
}

}  // namespace

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string this_writer() {
  const std::string pid = std::to_string(::getpid());
  return place() + " " + pid + " " + start_of(pid);
}

std::optional<bool> is_there(const std::string& writer) {
  const std::vector<std::string_view> words = base::words(writer);
  const std::string here = place();
  if (words.size() != 3 || here.empty() || words[0] != here || !base::parse_unsigned(words[1]))
    return std::nullopt;
  return start_of(std::string(words[1])) == words[2];
}

std::optional<bool> was_restarted_since(const std::string& writer) {
  const std::string boot = this_boot();
  const std::size_t end = writer.find('/');
  if (boot.empty() || end == 0 || end == std::string::npos) return std::nullopt;
  return writer.compare(0, end, boot) != 0;
}

}  // namespace ebb::record
