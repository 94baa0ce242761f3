// SPDX-License-Identifier: Apache-2.0
#include "heap/mappings.h"

#include "base/file.h"
#include "base/text.h"

namespace ebb::heap {
namespace {

/// "start-end perms offset dev inode [name]"; the name may hold spaces.
bool parse_line(std::string_view line, Mapping& mapping) {
  std::string_view fields[5];
  std::size_t at = 0;
  for (std::string_view& field : fields) {
    const std::size_t end = line.find(' ', at);
    if (end == std::string_view::npos && &field != &fields[4]) return false;
    field = line.substr(at, end == std::string_view::npos ? end : end - at);
    at = end == std::string_view::npos ? line.size() : end + 1;
  }
  const std::size_t dash = fields[0].find('-');
  if (dash == std::string_view::npos || fields[1].size() != 4) return false;
  const auto start = base::parse_unsigned(fields[0].substr(0, dash), 16);
  const auto end = base::parse_unsigned(fields[0].substr(dash + 1), 16);
  const auto inode = base::parse_unsigned(fields[4]);
  if (!start || !end || *start > *end || !inode) return false;
  mapping = {*start,
             *end,
             fields[1][0] == 'r',
             fields[1][1] == 'w',
             fields[1][2] == 'x',
             fields[1][3] == 's',
             *inode,
             std::string(base::trimmed(line.substr(at)))};
  return true;
}

}  // namespace

base::Result<std::vector<Mapping>> parse_mappings(std::string_view text) {
  std::vector<Mapping> mappings;
  std::size_t number = 0;
  for (const std::string_view line : base::split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    Mapping mapping;
    if (!parse_line(line, mapping)) {
      return base::error(base::Code::bad_input, "maps line %zu: expected 'start-end perms …': %.*s",
                         number, static_cast<int>(std::min<std::size_t>(line.size(), 80)),
                         line.data());
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

base::Result<std::vector<Mapping>> read_mappings(const std::string& maps_path) {
  const base::Result<std::string> text = base::read_file(maps_path, 256 << 20);
  if (!text) return text.error();
  return parse_mappings(*text);
}

base::Result<std::vector<Mapping>> read_own_mappings() {
  auto mappings = read_mappings("/proc/self/maps");
  if (mappings && mappings->empty()) return read_mappings("/proc/thread-self/maps");
  return mappings;
}

}  // namespace ebb::heap
