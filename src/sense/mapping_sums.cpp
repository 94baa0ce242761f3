// SPDX-License-Identifier: Apache-2.0
#include "sense/mapping_sums.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "sense/fields.h"
#include "sense/living_thread.h"
#include "sense/process.h"

namespace ebb::sense {
namespace {

// A runtime may keep its stacks in its heap: no thread's own is so large.
constexpr std::uint64_t kLargestStack = 1ULL << 30;
constexpr int kTries = 5;

struct SmapsEntry {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool is_shared = false;
  std::string_view name;
  std::uint64_t bytes = 0;  // resident or swapped out
};

/// "start-end perms offset dev inode [name]"; false for any other line.
bool parse_header(std::string_view line, SmapsEntry& entry) {
  const std::vector<std::string_view> words = base::words(line);
  if (words.size() < 5) return false;
  const std::size_t dash = words[0].find('-');
  if (dash == std::string_view::npos || words[1].size() != 4) return false;
  const auto start = base::parse_unsigned(words[0].substr(0, dash), 16);
  const auto end = base::parse_unsigned(words[0].substr(dash + 1), 16);
  if (!start || !end || *start > *end) return false;
  entry = {*start, *end, words[1][3] == 's', {}, 0};
  if (words.size() > 5)
    entry.name = line.substr(static_cast<std::size_t>(words[5].data() - line.data()));
  return true;
}

base::Result<std::vector<SmapsEntry>> entries_of(std::string_view smaps, std::string_view file) {
  const auto lines = lines_of(smaps, file);
  if (!lines) return lines.error();
  std::vector<SmapsEntry> entries;
  for (const std::string_view line : *lines) {
    SmapsEntry entry;
    if (parse_header(line, entry)) {
      entries.push_back(entry);
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || entries.empty())
      return garbled(file, "a line", "a mapping or \"key: value\"", line);
    const std::string_view key = line.substr(0, colon);
    if (key != "Rss" && key != "Swap") continue;
    const auto bytes = parse_kib(base::trimmed(line.substr(colon + 1)), file, key);
    if (!bytes) return bytes.error();
    entries.back().bytes += *bytes;
  }
  return entries;
}

/// Where a thread stands in its stack; nothing while it runs.
std::optional<std::uint64_t> stack_pointer_of(const std::string& task) {
  for (int i = 0; i < kTries; ++i) {
    const auto text = base::read_file(task + "/syscall", 4096);
    if (!text) return std::nullopt;
    const std::vector<std::string_view> words = base::words(*text);
    if (words.size() < 2 || words[0] == "running") continue;
    const std::string_view pointer = words[words.size() - 2];
    if (!pointer.starts_with("0x")) return std::nullopt;
    return base::parse_unsigned(pointer.substr(2), 16);
  }
  return std::nullopt;
}

/// Of all threads but the main one, whose stack the kernel names; nothing where one is not known.
std::optional<std::vector<std::uint64_t>> stack_pointers_of(const std::string& directory,
                                                            pid_t main, StackPointers& seen) {
  std::vector<std::uint64_t> pointers;
  StackPointers found;
  bool all_known = true;
  const auto tasks = base::entries_of(directory + "/task");
  if (!tasks) return std::nullopt;
  for (const auto& [name, is_folder] : *tasks) {
    if (name == std::to_string(main)) continue;
    if (name == std::to_string(::syscall(SYS_gettid))) {
      pointers.push_back(reinterpret_cast<std::uint64_t>(&pointers));
      continue;
    }
    const std::string task = directory + "/task/" + name;
    auto pointer = stack_pointer_of(task);
    const auto id = base::parse_unsigned(name);
    if (!id) continue;
    const auto thread = static_cast<pid_t>(*id);
    if (const auto before = seen.find(thread); !pointer && before != seen.end())
      pointer = before->second;
    if (!pointer) {
      // Ended meanwhile: it has no stack any more.
      std::error_code gone;
      if (!std::filesystem::exists(task, gone)) continue;
      all_known = false;
      continue;
    }
    found[thread] = *pointer;
    pointers.push_back(*pointer);
  }
  seen = std::move(found);
  if (!all_known) return std::nullopt;
  return pointers;
}

}  // namespace

base::Result<MappingSums> parse_mapping_sums(std::string_view smaps,
                                             std::span<const std::uint64_t> stack_pointers,
                                             std::string_view file) {
  const auto entries = entries_of(smaps, file);
  if (!entries) return entries.error();
  const bool uses_cuda = std::any_of(entries->begin(), entries->end(), [](const SmapsEntry& one) {
    return one.name.starts_with("/dev/nvidiactl");
  });
  MappingSums sums;
  sums.stacks = 0;
  if (uses_cuda) sums.pinned = 0;
  for (const SmapsEntry& one : *entries) {
    const bool is_stack =
        one.name == "[stack]" ||
        (one.name.empty() && !one.is_shared && one.end - one.start <= kLargestStack &&
         std::any_of(stack_pointers.begin(), stack_pointers.end(), [&](std::uint64_t pointer) {
           return pointer >= one.start && pointer < one.end;
         }));
    if (is_stack) {
      *sums.stacks += one.bytes;
    } else if (one.name.starts_with("[anon:cpython")) {
      sums.python = sums.python.value_or(0) + one.bytes;
    } else if (uses_cuda && one.is_shared && one.name == "/dev/zero (deleted)") {
      *sums.pinned += one.bytes;
      sums.pinned_shared += one.bytes;
    } else if (one.name.starts_with("/dev/nvidia")) {
      if (uses_cuda) *sums.pinned += one.bytes;
    }
  }
  return sums;
}

base::Result<MappingSums> read_mapping_sums(pid_t pid, const Roots& roots, StackPointers* seen) {
  StackPointers nobody_before;
  const std::string directory = roots.process(pid);
  const std::string file = folder_to_read(pid, roots) + "/smaps";
  const auto text = base::read_file(file, 256 << 20);
  if (!text && text.error().code == base::Code::not_found) return no_such_process(pid, roots);
  if (!text) return text.error();
  const auto pointers = stack_pointers_of(directory, pid == kSelf ? ::getpid() : pid,
                                          seen != nullptr ? *seen : nobody_before);
  auto sums = parse_mapping_sums(*text, pointers.value_or(std::vector<std::uint64_t>{}), file);
  if (sums && !pointers) sums->stacks.reset();
  return sums;
}

}  // namespace ebb::sense
