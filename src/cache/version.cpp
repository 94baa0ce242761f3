// SPDX-License-Identifier: Apache-2.0
#include "cache/version.h"

#include "base/text.h"

namespace ebb::cache {

base::Result<VersionProfile> profile_of(int minor) {
  if (minor < kOldestMinor || minor > kNewestMinor) {
    return base::error(base::Code::bad_input, "PyTorch 2.%d: expected 2.%d to 2.%d", minor,
                       kOldestMinor, kNewestMinor);
  }
  VersionProfile profile;
  profile.minor = minor;
  profile.tie_break = minor <= 11   ? TieBreak::address
                      : minor == 12 ? TieBreak::creation
                                    : TieBreak::segment;
  profile.overflow_pools = minor <= 7    ? OverflowPools::never
                           : minor <= 10 ? OverflowPools::last
                                         : OverflowPools::first;
  profile.private_expandable = minor <= 4   ? PrivateExpandable::off
                               : minor == 7 ? PrivateExpandable::refused
                               : minor == 8 ? PrivateExpandable::refused_custom
                               : minor == 9 ? PrivateExpandable::refused_custom
                                            : PrivateExpandable::plain_custom;
  return profile;
}

base::Result<VersionProfile> parse_version(std::string_view text) {
  const auto bad = [&] {
    return base::error(base::Code::bad_input, "PyTorch version \"%.*s\": expected 2.%d to 2.%d",
                       static_cast<int>(text.size()), text.data(), kOldestMinor, kNewestMinor);
  };
  const std::vector<std::string_view> parts = base::split(text, '.');
  if (parts.size() < 2 || parts[0] != "2") return bad();
  const std::string_view digits = parts[1].substr(0, parts[1].find_first_not_of("0123456789"));
  const auto minor = base::parse_unsigned(digits);
  if (!minor || *minor > kNewestMinor || *minor < kOldestMinor) return bad();
  return profile_of(static_cast<int>(*minor));
}

}  // namespace ebb::cache
