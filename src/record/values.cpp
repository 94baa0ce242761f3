// SPDX-License-Identifier: Apache-2.0
#include "record/values.h"

#include <algorithm>
#include <cmath>

namespace ebb::record {
namespace {

constexpr double kLongest = 1e14;
constexpr std::size_t kLongestCommand = 4096;

}  // namespace

std::int64_t whole(double value) {
  if (!std::isfinite(value)) return 0;
  return std::llround(std::clamp(value, 0.0, kLongest));
}

std::int64_t milliseconds(double seconds) {
  return whole(seconds * 1000);
}

double seconds_of(std::int64_t milliseconds) {
  return static_cast<double>(milliseconds) / 1000;
}

std::string shortened(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80)
    --bytes;
  return text.substr(0, bytes);
}

base::Json command_json(const std::vector<std::string>& command) {
  base::Json words = base::Json::array();
  std::size_t left = kLongestCommand;
  for (const std::string& word : command) {
    if (left == 0) break;
    words.push(shortened(word, left));
    left -= std::min(left, word.size() + 1);
  }
  return words;
}

std::vector<std::string> command_of(const std::string& text) {
  std::vector<std::string> words;
  const auto json = base::parse_json(text);
  if (!json || json->as_array() == nullptr) return words;
  for (const base::Json& word : *json->as_array())
    if (word.as_string() != nullptr) words.push_back(*word.as_string());
  return words;
}

}  // namespace ebb::record
