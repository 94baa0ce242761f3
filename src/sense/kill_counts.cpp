// SPDX-License-Identifier: Apache-2.0
#include "sense/kill_counts.h"

#include <sys/xattr.h>

#include "base/file.h"
#include "base/text.h"
#include "sense/cgroup_text.h"
#include "sense/fields.h"

namespace ebb::sense {
namespace {

using Count = std::optional<std::uint64_t>;

/// Of a file of lines "key number"; nothing where there is no such file or line.
Count keyed(const std::string& file, const char* key) {
  const auto text = base::read_file(file, 1 << 20);
  if (!text) return std::nullopt;
  const auto numbers = KeyedNumbers::parse(*text, file);
  return numbers ? numbers->find(key) : std::nullopt;
}

Count number(const std::string& file) {
  const auto text = base::read_file(file, 1 << 10);
  return text ? base::parse_unsigned(base::trimmed(*text)) : std::nullopt;
}

Count limit(const std::string& file) {
  const auto text = base::read_file(file, 1 << 10);
  if (!text) return std::nullopt;
  const auto parsed = parse_limit(*text, file);
  return parsed ? *parsed : std::nullopt;
}

/// The daemon keeps its counts in attributes of the group's folder.
Count attribute(const std::string& folder, const char* name) {
  char text[32];
  const ssize_t length = ::getxattr(folder.c_str(), name, text, sizeof text);
  if (length < 0) return std::nullopt;
  return base::parse_unsigned(
      base::trimmed(std::string_view(text, static_cast<std::size_t>(length))));
}

LevelKills kills_of_v2(const std::string& folder) {
  LevelKills kills;
  kills.limit = limit(folder + "/memory.max");
  // Events of groups below are in memory.events as well; since Linux 5.2 there is the other file.
  const std::string local = folder + "/memory.events.local";
  const std::string all = folder + "/memory.events";
  const std::string& events = keyed(local, "oom") ? local : all;
  kills.full = keyed(events, "oom");
  kills.reached = keyed(events, "max");
  kills.killed = keyed(events, "oom_kill");
  return kills;
}

LevelKills kills_of_v1(const std::string& folder) {
  LevelKills kills;
  kills.limit = limit(folder + "/memory.limit_in_bytes");
  kills.reached = number(folder + "/memory.failcnt");
  kills.killed = keyed(folder + "/memory.oom_control", "oom_kill");
  return kills;
}

}  // namespace

KillCounts read_kill_counts(const CgroupPlace& place, const Roots& roots) {
  KillCounts counts;
  counts.version = place.version;
  counts.ancestors_hidden = place.ancestors_hidden;
  counts.unaccounted = place.unaccounted;
  for (std::size_t i = 0; i < place.directories.size(); ++i) {
    const std::string& folder = place.directories[i];
    counts.levels.push_back(place.version == CgroupVersion::v2 ? kills_of_v2(folder)
                                                               : kills_of_v1(folder));
    counts.levels.back().group = group_above(place, i);
    counts.levels.back().oomd_killed = attribute(folder, "user.oomd_kill");
    counts.levels.back().oomd_kills = attribute(folder, "user.oomd_ooms");
  }
  counts.machine = keyed(roots.proc + "/vmstat", "oom_kill");
  return counts;
}

KillCounts later_of(KillCounts earlier, KillCounts later) {
  if (earlier.levels.size() != later.levels.size()) return later;
  for (std::size_t i = 0; i < later.levels.size(); ++i) {
    for (const auto count :
         {&LevelKills::limit, &LevelKills::full, &LevelKills::reached, &LevelKills::killed,
          &LevelKills::oomd_killed, &LevelKills::oomd_kills})
      if (!(later.levels[i].*count)) later.levels[i].*count = earlier.levels[i].*count;
  }
  return later;
}

}  // namespace ebb::sense
