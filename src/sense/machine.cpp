// SPDX-License-Identifier: Apache-2.0
#include "sense/machine.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "sense/fields.h"

namespace ebb::sense {

using base::Code;
using base::Result;

namespace {
constexpr std::uint64_t kMostProcessors = 1 << 20;
}

const char* name_of(ThpMode mode) {
  switch (mode) {
    case ThpMode::always:
      return "always";
    case ThpMode::madvise:
      return "madvise";
    case ThpMode::never:
      return "never";
  }
  return "never";
}

std::uint64_t page_size() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Result<MachineReading> parse_meminfo(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  MachineReading machine;
  struct Wanted {
    std::string_view key;
    std::uint64_t& into;
    bool seen = false;
  } wanted[] = {{"MemTotal", machine.total},       {"MemAvailable", machine.available},
                {"MemFree", machine.free},         {"Cached", machine.cached},
                {"SwapTotal", machine.swap_total}, {"SwapFree", machine.swap_free}};
  for (const std::string_view line : *lines) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return garbled(file, "a line", "\"key: value\"", line);
    for (Wanted& one : wanted) {
      if (line.substr(0, colon) != one.key) continue;
      const auto bytes = parse_kib(line.substr(colon + 1), file, one.key);
      if (!bytes) return bytes.error();
      one.into = *bytes;
      one.seen = true;
    }
  }
  for (const Wanted& one : wanted) {
    if (!one.seen) return missing(file, one.key);
  }
  if (machine.total == 0) return garbled(file, "MemTotal", "more than nothing", "0 kB");
  return machine;
}

Result<std::uint64_t> parse_cpu_list(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  std::uint64_t count = 0;
  for (const std::string_view range : base::split((*lines)[0], ',')) {
    const std::size_t dash = range.find('-');
    const auto first = base::parse_unsigned(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : base::parse_unsigned(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last > kMostProcessors) {
      return garbled(file, "a range", "processors such as 0-3,8", range);
    }
    count += *last - *first + 1;
  }
  return count;
}

Result<ThpMode> parse_thp(std::string_view text, std::string_view file) {
  for (const std::string_view word : base::words(text)) {
    if (word == "[always]") return ThpMode::always;
    if (word == "[madvise]") return ThpMode::madvise;
    if (word == "[never]") return ThpMode::never;
  }
  return garbled(file, "the mode", "one of always, madvise and never in brackets", text);
}

Result<MachineReading> read_machine(const Roots& roots) {
  const std::string meminfo = roots.proc + "/meminfo";
  const auto text = base::read_file(meminfo);
  if (!text) return text.error();
  Result<MachineReading> machine = parse_meminfo(*text, meminfo);
  if (!machine) return machine;
  machine->page_size = page_size();

  const std::string online = roots.sys + "/devices/system/cpu/online";
  if (const auto list = base::read_file(online)) {
    const auto cores = parse_cpu_list(*list, online);
    if (!cores) return cores.error();
    machine->cores = *cores;
  } else if (list.error().code != Code::not_found) {
    return list.error();
  }

  const std::string enabled = roots.sys + "/kernel/mm/transparent_hugepage/enabled";
  if (const auto modes = base::read_file(enabled)) {
    const auto mode = parse_thp(*modes, enabled);
    if (!mode) return mode.error();
    machine->thp = *mode;
  } else if (modes.error().code != Code::not_found) {
    return modes.error();
  }
  return machine;
}

}  // namespace ebb::sense
