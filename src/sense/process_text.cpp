// SPDX-License-Identifier: Apache-2.0
#include "sense/process_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "base/text.h"
#include "sense/fields.h"

namespace ebb::sense {

using base::Result;

namespace {

/// "Key:   value" in two, or nothing.
std::optional<std::pair<std::string_view, std::string_view>> key_and_value(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return std::pair(line.substr(0, colon), base::trimmed(line.substr(colon + 1)));
}

/// One soft limit out of a line "Max address space   unlimited   unlimited   bytes".
Result<std::optional<std::uint64_t>> soft_limit(std::string_view rest, std::string_view file,
                                                std::string_view field) {
  const std::vector<std::string_view> words = base::words(rest);
  if (words.size() >= 2) {
    if (words[0] == "unlimited") return std::optional<std::uint64_t>();
    if (const auto number = base::parse_unsigned(words[0])) return number;
  }
  return garbled(file, field, "a number or unlimited, twice", rest);
}

}  // namespace

Result<StatusText> parse_status(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  StatusText status;
  const struct {
    std::string_view key;
    std::optional<std::uint64_t>& into;
  } sizes[] = {
      {"VmSize", status.virtual_size}, {"VmRSS", status.rss},    {"VmHWM", status.hwm},
      {"RssAnon", status.anon},        {"RssFile", status.file}, {"RssShmem", status.shmem},
      {"VmData", status.data},         {"VmSwap", status.swap},  {"VmLck", status.locked},
      {"VmPeak", status.virtual_peak},
  };
  std::optional<std::uint64_t> pid, threads;
  for (const std::string_view line : *lines) {
    const auto pair = key_and_value(line);
    if (!pair) return garbled(file, "a line", "\"key: value\"", line);
    const auto& [key, value] = *pair;
    for (const auto& size : sizes) {
      if (key != size.key) continue;
      const auto bytes = parse_kib(value, file, key);
      if (!bytes) return bytes.error();
      size.into = *bytes;
    }
    if (key == "State") {
      if (value.empty()) return garbled(file, key, "a letter", value);
      status.state = value[0];
    } else if (key == "Pid") {
      pid = base::parse_unsigned(value);
      if (!pid || *pid == 0 || *pid > INT32_MAX) return garbled(file, key, "a pid", value);
    } else if (key == "Threads") {
      threads = base::parse_unsigned(value);
      if (!threads) return garbled(file, key, "a number", value);
    }
  }
  if (status.state == '?') return missing(file, "State");
  if (!pid) return missing(file, "Pid");
  // Threads stands behind every memory field, so that it also tells a file that was cut before one.
  if (!threads) return missing(file, "Threads");
  if (status.virtual_size && !status.rss) return missing(file, "VmRSS");
  if (status.rss && !status.virtual_size) return missing(file, "VmSize");
  status.pid = static_cast<pid_t>(*pid);
  status.threads = *threads;
  return status;
}

Result<StatText> parse_stat(std::string_view text, std::string_view file) {
  if (const auto lines = lines_of(text, file); !lines) return lines.error();
  // The name stands in parentheses and may hold anything, parentheses and newlines included.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) {
    return garbled(file, "the name", "a name in parentheses", text);
  }
  const std::vector<std::string_view> words = base::words(text.substr(name_end + 1));
  std::optional<std::uint64_t> numbers[8];
  const struct {
    const char* name;
    std::size_t place;
  } fields[] = {{"minflt", 7},     {"majflt", 9}, {"utime", 11}, {"stime", 12},
                {"starttime", 19}, {"ppid", 1},   {"flags", 6},  {"num_threads", 17}};
  for (std::size_t i = 0; i < std::size(fields); ++i) {
    if (fields[i].place >= words.size()) return missing(file, fields[i].name);
    const std::string_view word = words[fields[i].place];
    numbers[i] = base::parse_unsigned(word);
    if (!numbers[i]) return garbled(file, fields[i].name, "a number", word);
  }
  if (*numbers[5] > INT32_MAX) return garbled(file, "ppid", "a pid", words[1]);
  StatText stat;
  stat.state = words[0][0];
  stat.parent = static_cast<pid_t>(*numbers[5]);
  stat.minor_faults = *numbers[0];
  stat.major_faults = *numbers[1];
  stat.cpu_ticks = *numbers[2] + *numbers[3];
  stat.system_ticks = *numbers[3];
  stat.start_ticks = *numbers[4];
  stat.flags = *numbers[6];
  stat.threads = *numbers[7];
  return stat;
}

Result<std::uint64_t> parse_statm(std::string_view text, std::string_view file) {
  const char* const end = text.data() + text.size();
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  const auto first = std::from_chars(text.data(), end, size);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == ' ') {
    const auto second = std::from_chars(first.ptr + 1, end, resident);
    if (second.ec == std::errc{} && second.ptr != end && *second.ptr == ' ') return resident;
  }
  return garbled(file, "resident", "two numbers of pages and more", text);
}

Result<RollupText> parse_smaps_rollup(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  constexpr std::size_t kNeeded = 5;
  const std::string_view keys[] = {"Rss",           "Pss",       "Private_Clean", "Private_Dirty",
                                   "AnonHugePages", "Anonymous", "Pss_Anon"};
  constexpr std::size_t kKeys = std::size(keys);
  std::optional<std::uint64_t> sizes[kKeys];
  for (const std::string_view line : *lines) {
    const auto pair = key_and_value(line);
    if (!pair) continue;  // the first line, an address range
    for (std::size_t i = 0; i < kKeys; ++i) {
      if (pair->first != keys[i]) continue;
      const auto bytes = parse_kib(pair->second, file, keys[i]);
      if (!bytes) return bytes.error();
      sizes[i] = *bytes;
    }
  }
  for (std::size_t i = 0; i < kNeeded; ++i) {
    if (!sizes[i]) return missing(file, keys[i]);
  }
  RollupText rollup{*sizes[0], *sizes[1], *sizes[2] + *sizes[3], *sizes[4], std::nullopt};
  const auto& anon = sizes[5];
  const auto& pss_anon = sizes[6];
  if (anon && pss_anon) rollup.shared = *anon - std::min(*anon, *pss_anon);
  return rollup;
}

Result<LimitsText> parse_limits(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  LimitsText limits;
  const struct {
    std::string_view key;
    std::optional<std::uint64_t>& into;
  } wanted[] = {{"Max data size", limits.data_size}, {"Max address space", limits.address_space}};
  for (const auto& one : wanted) {
    bool seen = false;
    for (const std::string_view line : *lines) {
      if (line.substr(0, one.key.size()) != one.key) continue;
      const auto limit = soft_limit(line.substr(one.key.size()), file, one.key);
      if (!limit) return limit.error();
      one.into = *limit;
      seen = true;
    }
    if (!seen) return missing(file, one.key);
  }
  return limits;
}

}  // namespace ebb::sense
