// SPDX-License-Identifier: Apache-2.0
#include "show/words.h"

#include <ctime>

#include "base/text.h"

namespace ebb::show {

std::string joined(const std::vector<std::string>& pieces, const char* between) {
  std::string text;
  for (const std::string& piece : pieces)
    text += (text.empty() ? "" : between) + piece;
  return text;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return text;
}

std::string count_text(std::uint64_t count) {
  if (count >= 1'000'000'000) return base::format_text("%.2f G", static_cast<double>(count) / 1e9);
  if (count >= 1'000'000) return base::format_text("%.1f M", static_cast<double>(count) / 1e6);
  return std::to_string(count);
}

std::string local_time_text(double unix_seconds) {
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts{};
  char text[32];
  if (::localtime_r(&time, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0)
    return "-";
  return text;
}

std::string conf_text(const std::string& conf) {
  return conf.empty() ? "(default)" : conf;
}

}  // namespace ebb::show
