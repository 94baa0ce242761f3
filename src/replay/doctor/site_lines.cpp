// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/site_lines.h"

#include <algorithm>

namespace ebb::replay {

SiteLines::SiteLines(const SiteNumbers& numbers) {
  for (std::uint32_t number = 0; number < numbers.size(); ++number)
    line_of_.push_back(number < SiteNumbers::kPlaces ? number : add(numbers.calls_of(number)));
}

std::uint32_t SiteLines::add(fact::SiteStack calls) {
  const fact::SiteFrame* const found = fact::telling_frame(calls);
  const std::size_t telling = found == nullptr ? 0 : static_cast<std::size_t>(found - calls.data());
  const fact::SiteFrame& line = calls[telling];
  const auto [at, is_new] =
      known_.try_emplace({line.file, line.function, line.line}, static_cast<std::uint32_t>(size()));
  if (is_new) {
    lines_.push_back({std::move(calls), telling, false});
    return at->second;
  }
  Line& known = lines_[at->second - SiteNumbers::kPlaces];
  std::size_t inside = 0;
  while (inside < std::min(telling, known.telling) &&
         calls[telling - 1 - inside] == known.shared[known.telling - 1 - inside])
    ++inside;
  std::size_t outside = 1;
  while (outside < std::min(calls.size() - telling, known.shared.size() - known.telling) &&
         calls[telling + outside] == known.shared[known.telling + outside])
    ++outside;
  known.has_other_callers = known.has_other_callers || telling + outside < calls.size() ||
                            known.telling + outside < known.shared.size();
  const auto middle = known.shared.begin() + static_cast<std::ptrdiff_t>(known.telling);
  known.shared = {middle - static_cast<std::ptrdiff_t>(inside),
                  middle + static_cast<std::ptrdiff_t>(outside)};
  known.telling = inside;
  return at->second;
}

}  // namespace ebb::replay
