// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup_text.h"

#include <algorithm>

#include "base/text.h"
#include "sense/fields.h"

namespace ebb::sense {

using base::Result;

namespace {

/// v1 says none by the greatest long rounded down to the page size, which differs by machine.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// mountinfo writes blanks and backslashes in paths as \ooo.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      const auto code = base::parse_unsigned(text.substr(i + 1, 3), 8);
      if (code && *code < 256) {
        out += static_cast<char>(static_cast<unsigned char>(*code));
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

Result<std::string_view> only_line(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  if (lines->size() != 1) return garbled(file, "the file", "one line", text);
  return lines->front();
}

}  // namespace

Result<GroupNames> parse_group_names(std::string_view text, std::string_view file) {
  GroupNames names;
  if (text.empty()) return names;  // a kernel on which no hierarchy was ever mounted
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  for (const std::string_view line : *lines) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos || !base::parse_unsigned(line.substr(0, first)) ||
        line.substr(second + 1, 1) != "/") {
      return garbled(file, "a line", "number:controllers:/path", line);
    }
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (contains(base::split(controllers, ','), "memory")) names.memory_v1 = path;
    if (controllers.empty() && line.substr(0, first) == "0") names.unified = path;
  }
  return names;
}

Result<std::vector<CgroupMount>> parse_cgroup_mounts(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : *lines) {
    // id parent device root point options [tags...] - type source super-options
    const std::vector<std::string_view> words = base::words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 3) {
      return garbled(file, "a line", "a mount with \" - type source\"", line);
    }
    const std::string_view type = dash[1];
    const bool v2 = type == "cgroup2";
    if (!v2 && (type != "cgroup" || !contains(base::split(words.back(), ','), "memory"))) continue;
    if (words[3].front() != '/' || words[4].front() != '/') {
      return garbled(file, "a cgroup mount", "absolute paths", line);
    }
    mounts.push_back({v2, unescaped(words[3]), unescaped(words[4])});
  }
  return mounts;
}

std::optional<std::uint64_t> limit_from(std::uint64_t bytes) {
  if (bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

Result<std::optional<std::uint64_t>> parse_limit(std::string_view text, std::string_view file) {
  const auto line = only_line(text, file);
  if (!line) return line.error();
  if (*line == "max") return std::optional<std::uint64_t>();
  const auto number = base::parse_unsigned(*line);
  if (!number) return garbled(file, "the limit", "a number of bytes or max", *line);
  return limit_from(*number);
}

Result<std::uint64_t> parse_number(std::string_view text, std::string_view file) {
  const auto line = only_line(text, file);
  if (!line) return line.error();
  const auto number = base::parse_unsigned(*line);
  if (!number) return garbled(file, "the file", "a number", *line);
  return *number;
}

}  // namespace ebb::sense
