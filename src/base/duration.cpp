// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <cmath>

#include "base/text.h"

namespace ebb::base {
namespace {

constexpr double kMinute = 60;
constexpr double kDay = 24 * kHour;
constexpr double kLongest = 3650 * kDay;

}  // namespace

Result<double> parse_duration(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  const auto number = parse_double(text.substr(0, digits));
  const std::string_view unit =
      digits == std::string_view::npos ? "s" : trimmed(text.substr(digits));
  double scale = 0;
  if (unit == "ms") scale = 1e-3;
  if (unit == "s") scale = 1;
  if (unit == "m" || unit == "min") scale = kMinute;
  if (unit == "h") scale = kHour;
  if (unit == "d") scale = kDay;
  const double seconds = number.value_or(0) * scale;
  if (!number || !(seconds > 0) || seconds > kLongest) {
    return error(Code::bad_input,
                 "'%.40s' is no duration: expected one such as 250ms, 1s, 5m or 2h",
                 std::string(text).c_str());
  }
  return seconds;
}

std::string duration_text(double seconds) {
  if (seconds < 1) return format_text("%.0f ms", seconds * 1e3);
  if (seconds < 2 * kMinute) return format_text("%.1f s", seconds);
  if (seconds < 2 * kHour) return format_text("%.0f min", seconds / kMinute);
  if (seconds < 2 * kDay) return format_text("%.1f h", seconds / kHour);
  return format_text("%.1f d", seconds / kDay);
}

}  // namespace ebb::base
