// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup.h"

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "sense/cgroup_text.h"
#include "sense/fields.h"

namespace ebb::sense {

using base::Code;
using base::Error;
using base::Result;

namespace {

using Bytes = std::optional<std::uint64_t>;

/// Reads files of groups until the first that is garbage, and keeps that one's error; absent files
/// are empty. ENODEV is a group removed meanwhile, EOPNOTSUPP an accounting that is switched off.
class GroupFiles {
 public:
  Bytes number(const std::string& path) { return parsed<std::uint64_t>(path, parse_number); }

  Bytes limit(const std::string& path) {
    const auto value = parsed<Bytes>(path, parse_limit);
    return value ? *value : std::nullopt;
  }

  /// `use(numbers)` with the lines "key number" of a file, if it is there.
  template <class Use>
  void keyed(const std::string& path, Use&& use) {
    const auto text = read(path);
    if (!text) return;
    const auto numbers = KeyedNumbers::parse(*text, path);
    if (numbers) {
      use(*numbers);
    } else {
      failure_ = numbers.error();
    }
  }

  const std::optional<Error>& failure() const { return failure_; }

 private:
  std::optional<std::string> read(const std::string& path) {
    if (failure_) return std::nullopt;
    auto text = base::read_file(path, 1 << 20);
    if (text) return *std::move(text);
    const Error& error = text.error();
    const bool absent =
        error.code == Code::not_found || error.native == ENODEV || error.native == EOPNOTSUPP;
    if (!absent) failure_ = error;
    return std::nullopt;
  }

  template <class T, class Parse>
  std::optional<T> parsed(const std::string& path, Parse parse) {
    const auto text = read(path);
    if (!text) return std::nullopt;
    auto value = parse(*text, path);
    if (value) return *std::move(value);
    failure_ = value.error();
    return std::nullopt;
  }

  std::optional<Error> failure_;
};

Bytes less(Bytes from, Bytes part) {
  if (!from || !part) return std::nullopt;
  return *from > *part ? *from - *part : 0;
}

void tighten(Bytes& limit, Bytes other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

CgroupMemory memory_v2(GroupFiles& files, const std::string& directory) {
  CgroupMemory memory;
  memory.usage = files.number(directory + "/memory.current");
  files.keyed(directory + "/memory.stat",
              [&](const KeyedNumbers& stat) { take_stats(stat, memory); });
  return memory;
}

CgroupMemory memory_v1(GroupFiles& files, const std::string& directory) {
  CgroupMemory memory;
  memory.usage = files.number(directory + "/memory.usage_in_bytes");
  memory.kernel = files.number(directory + "/memory.kmem.usage_in_bytes");
  files.keyed(directory + "/memory.stat",
              [&](const KeyedNumbers& stat) { take_stats(stat, memory); });
  return memory;
}

void read_v2(GroupFiles& files, CgroupReading& reading) {
  for (std::size_t i = 0; i < reading.levels.size(); ++i) {
    CgroupLevel& level = reading.levels[i];
    level.limit = files.limit(level.directory + "/memory.max");
    level.soft_limit = files.limit(level.directory + "/memory.high");
    tighten(reading.swap_limit, files.limit(level.directory + "/memory.swap.max"));
    tighten(reading.limit, level.limit);
    tighten(reading.soft_limit, level.soft_limit);
    if (i == 0 || level.limit || level.soft_limit) level.memory = memory_v2(files, level.directory);
  }
  files.keyed(reading.levels.front().directory + "/memory.events", [&](const KeyedNumbers& events) {
    reading.events = {events.find("high"), events.find("max"), events.find("oom"),
                      events.find("oom_kill")};
  });
}

void read_v1(GroupFiles& files, CgroupReading& reading) {
  const std::string& own = reading.levels.front().directory;
  for (std::size_t i = 0; i < reading.levels.size(); ++i) {
    CgroupLevel& level = reading.levels[i];
    level.limit = files.limit(level.directory + "/memory.limit_in_bytes");
    tighten(reading.limit, level.limit);
    if (i == 0 || level.limit) level.memory = memory_v1(files, level.directory);
  }
  Bytes with_swap = files.limit(own + "/memory.memsw.limit_in_bytes");
  files.keyed(own + "/memory.stat", [&](const KeyedNumbers& stat) {
    // The kernel's own minimum, over hidden ancestors as well and without those that do not bind
    // (use_hierarchy off): it stands above what the levels say.
    if (const Bytes all = stat.find("hierarchical_memory_limit")) reading.limit = limit_from(*all);
    if (const Bytes all = stat.find("hierarchical_memsw_limit")) with_swap = limit_from(*all);
  });
  reading.swap_limit = less(with_swap, reading.limit);
  reading.events.max = files.number(own + "/memory.failcnt");
  files.keyed(own + "/memory.oom_control", [&](const KeyedNumbers& control) {
    reading.events.oom_kill = control.find("oom_kill");
  });
}

std::optional<std::size_t> limiting_level(const CgroupReading& reading) {
  for (std::size_t i = 0; i < reading.levels.size(); ++i) {
    if (reading.limit && reading.levels[i].limit == reading.limit) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<CgroupReading> read_cgroup(const CgroupPlace& place) {
  CgroupReading reading;
  reading.version = place.version;
  reading.hybrid = place.hybrid;
  reading.ancestors_hidden = place.ancestors_hidden;
  reading.group = place.group;
  if (!place.pressure_file.empty()) reading.pressure_file = place.pressure_file;
  for (const std::string& directory : place.directories)
    reading.levels.push_back(CgroupLevel{directory, {}, {}, {}});
  if (reading.levels.empty()) return reading;

  GroupFiles files;
  if (place.version == CgroupVersion::v2) {
    read_v2(files, reading);
  } else {
    read_v1(files, reading);
  }
  if (files.failure()) return *files.failure();
  reading.limiting = limiting_level(reading);
  return reading;
}

Result<CgroupReading> read_cgroup(pid_t pid, const Roots& roots) {
  const auto place = find_cgroup(pid, roots);
  if (!place) return place.error();
  return read_cgroup(*place);
}

}  // namespace ebb::sense
