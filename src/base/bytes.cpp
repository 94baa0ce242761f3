// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <array>
#include <cctype>

#include "base/text.h"

namespace ebb::base {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr std::array<Unit, 14> kUnits{{
    {"", 1},
    {"b", 1},
    {"k", 1024.0},
    {"m", 1048576.0},
    {"g", 1073741824.0},
    {"t", 1099511627776.0},
    {"kib", 1024.0},
    {"mib", 1048576.0},
    {"gib", 1073741824.0},
    {"tib", 1099511627776.0},
    {"kb", 1e3},
    {"mb", 1e6},
    {"gb", 1e9},
    {"tb", 1e12},
}};

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < kKiB) return format_text("%llu B", static_cast<unsigned long long>(bytes));
  double value = static_cast<double>(bytes) / 1024.0;
  std::size_t unit = 0;
  // 1023.95 would print as "1024.0": move on before that.
  while (value >= 1023.95 && unit + 1 < kNames.size()) {
    value /= 1024.0;
    ++unit;
  }
  return format_text("%.1f %s", value, kNames.at(unit));
}

std::string signed_bytes_text(std::int64_t bytes) {
  const std::uint64_t magnitude = bytes < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(bytes)
                                            : static_cast<std::uint64_t>(bytes);
  return (bytes < 0 ? "-" : "+") + bytes_text(magnitude);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const std::string_view whole = trimmed(text);
  std::size_t digits = 0;
  while (digits < whole.size() &&
         (std::isdigit(static_cast<unsigned char>(whole[digits])) != 0 || whole[digits] == '.'))
    ++digits;
  std::string unit;
  for (const char c : trimmed(whole.substr(digits)))
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string_view number = whole.substr(0, digits);
  const auto bad = [&] {
    return error(Code::bad_input,
                 "'%.*s' is not a size: expected a number and a unit, such as 24GiB",
                 static_cast<int>(text.size()), text.data());
  };
  for (const Unit& candidate : kUnits) {
    if (unit != candidate.name) continue;
    // Whole bytes stay exact beyond the 53 bits of a double.
    if (candidate.bytes == 1) {
      if (const auto exact = parse_unsigned(number); exact && *exact <= (std::uint64_t{1} << 63))
        return *exact;
      return bad();
    }
    const auto value = parse_double(number);
    if (!value || *value * candidate.bytes > 9.2e18) return bad();
    return static_cast<std::uint64_t>(*value * candidate.bytes);
  }
  return bad();
}

}  // namespace ebb::base
