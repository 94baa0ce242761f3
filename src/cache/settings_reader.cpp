// SPDX-License-Identifier: Apache-2.0
#include "cache/settings_reader.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/text.h"
#include "cache/settings.h"

namespace ebb::cache {
namespace {

constexpr std::uint64_t kMostMiB = kUnlimited / base::kMiB;

}  // namespace

SettingsReader::SettingsReader(std::string_view text, const VersionProfile& profile)
    : profile_(profile), size_(text.size()), tokens_(settings_tokens(text, profile.at_least(10))) {}

bool SettingsReader::fail(std::size_t column, const std::string& what) {
  failure_ = base::error(base::Code::bad_input, "allocator settings, column %zu: %s", column,
                         what.c_str());
  return false;
}

bool SettingsReader::fail_here(const std::string& what) {
  return fail(column(),
              what + ", got " + (at_end() ? std::string("the end") : "\"" + token().text + "\""));
}

/// From 2.10 on PyTorch takes any token for a separator.
bool SettingsReader::separator(char mark) {
  const bool right = !at_end() && tokens_[next_].is(mark);
  if (!right && (at_end() || !profile_.at_least(10))) {
    return fail_here(std::string("expected '") + mark + "'");
  }
  ++next_;
  return true;
}

bool SettingsReader::skip_value() {
  if (tokens_[next_++].is('[')) {
    while (!at_end() && !tokens_[next_].is(']')) {
      ++next_;
    }
    if (at_end()) return fail_here("expected ']' to end the list of " + name_);
    ++next_;
  }
  return true;
}

bool SettingsReader::boolean(bool& value) {
  const std::string& word = tokens_[next_].text;
  if (word != "True" && word != "False") {
    return fail_here("expected True or False for " + name_);
  }
  value = word == "True";
  ++next_;
  return true;
}

bool SettingsReader::integer(std::uint64_t& value, int old_bits) {
  if (at_end()) return fail_here("expected a number for " + name_);
  const auto number = leading_integer(tokens_[next_].text, profile_.at_least(10) ? 64 : old_bits);
  if (!number) return fail_here("expected a number for " + name_);
  value = *number;
  ++next_;
  return true;
}

bool SettingsReader::mebibytes(std::uint64_t& bytes, std::uint64_t least) {
  std::uint64_t value = 0;
  if (!integer(value)) return false;
  if (value < least) {
    --next_;
    return fail_here(base::format_text("expected at least %llu for %s",
                                       static_cast<unsigned long long>(least), name_.c_str()));
  }
  bytes = std::min(value, kMostMiB) * base::kMiB;
  return true;
}

bool SettingsReader::fraction(double& value, bool ends_included) {
  const auto number = leading_double(tokens_[next_].text);
  const bool inside =
      number && (ends_included ? *number >= 0 && *number <= 1 : *number > 0 && *number < 1);
  if (!inside) {
    return fail_here("expected a number " +
                     std::string(ends_included ? "from 0 to 1" : "between 0 and 1") + " for " +
                     name_);
  }
  value = *number;
  ++next_;
  return true;
}

bool SettingsReader::power_of_two(std::uint64_t& value, bool zero_allowed, int old_bits) {
  if (!integer(value, old_bits)) return false;
  if (std::has_single_bit(value) || (zero_allowed && value == 0)) return true;
  --next_;
  return fail_here("expected a power of two for " + name_);
}

}  // namespace ebb::cache
