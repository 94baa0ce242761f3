// SPDX-License-Identifier: Apache-2.0
#include "sense/living_thread.h"

#include <dirent.h>

#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "sense/process_text.h"

namespace ebb::sense {
namespace {

std::optional<StatText> stat_in(const std::string& folder) {
  const std::string file = folder + "/stat";
  const auto text = base::read_file(file, 1 << 16);
  if (!text) return std::nullopt;
  const auto stat = parse_stat(*text, file);
  if (!stat) return std::nullopt;
  return *stat;
}

}  // namespace

std::optional<pid_t> living_thread(pid_t pid, const Roots& roots) {
  const std::string process = roots.process(pid);
  const auto first = stat_in(process);
  // Most that have ended had one thread: their tasks need not be listed.
  if (!first || !first->has_ended() || first->threads < 2) return std::nullopt;
  const std::string tasks = process + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()), &::closedir);
  if (folder == nullptr) return std::nullopt;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto thread = base::parse_unsigned(entry->d_name);
    if (!thread || *thread > INT32_MAX) continue;
    const auto stat = stat_in(tasks + "/" + entry->d_name);
    if (stat && !stat->has_ended() && !stat->is_ending()) return static_cast<pid_t>(*thread);
  }
  return std::nullopt;
}

pid_t number_to_read(pid_t pid, const Roots& roots) {
  return living_thread(pid, roots).value_or(pid);
}

std::string folder_to_read(pid_t pid, const Roots& roots) {
  const auto thread = living_thread(pid, roots);
  return thread ? roots.thread(pid, *thread) : roots.process(pid);
}

}  // namespace ebb::sense
