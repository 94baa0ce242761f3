// SPDX-License-Identifier: Apache-2.0
#include "sense/fields.h"

#include "base/text.h"

namespace ebb::sense {

using base::Code;
using base::Error;
using base::Result;

namespace {

constexpr std::size_t kShown = 60;
/// So that two sizes can be added.
constexpr std::uint64_t kMostKib = UINT64_MAX / 2 / 1024;

int length(std::string_view text) {
  return static_cast<int>(text.size());
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : base::trimmed(text.substr(0, kShown)))
    out += c >= ' ' && c <= '~' ? c : '?';
  out += text.size() > kShown ? "...\"" : "\"";
  return out;
}

Error garbled(std::string_view file, std::string_view field, const char* expected,
              std::string_view got) {
  return base::error(Code::bad_input, "%.*s: %.*s: expected %s, got %s", length(file), file.data(),
                     length(field), field.data(), expected, quoted(got).c_str());
}

Error missing(std::string_view file, std::string_view field) {
  return base::error(Code::bad_input, "%.*s: %.*s is missing: the file is cut short", length(file),
                     file.data(), length(field), field.data());
}

Result<std::vector<std::string_view>> lines_of(std::string_view text, std::string_view file) {
  if (text.empty()) {
    return base::error(Code::bad_input, "%.*s is empty", length(file), file.data());
  }
  std::vector<std::string_view> lines = base::split(text, '\n');
  if (!lines.back().empty()) {
    return base::error(Code::bad_input, "%.*s is cut short: its last line %s has no end",
                       length(file), file.data(), quoted(lines.back()).c_str());
  }
  lines.pop_back();
  return lines;
}

Result<std::uint64_t> parse_kib(std::string_view value, std::string_view file,
                                std::string_view field) {
  const std::vector<std::string_view> words = base::words(value);
  if (words.size() == 2 && words[1] == "kB") {
    const auto number = base::parse_unsigned(words[0]);
    if (number && *number <= kMostKib) return *number * 1024;
  }
  return garbled(file, field, "a number of kB", value);
}

Result<KeyedNumbers> KeyedNumbers::parse(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  KeyedNumbers numbers;
  for (const std::string_view line : *lines) {
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    if (key.empty() || space == std::string_view::npos) {
      return garbled(file, "a line", "a key and a number", line);
    }
    const auto number = base::parse_unsigned(line.substr(space + 1));
    if (!number) return garbled(file, quoted(key), "a number", line.substr(space + 1));
    numbers.entries_.emplace_back(key, *number);
  }
  return numbers;
}

std::optional<std::uint64_t> KeyedNumbers::find(std::string_view key) const {
  for (const auto& [name, number] : entries_) {
    if (name == key) return number;
  }
  return std::nullopt;
}

}  // namespace ebb::sense
