// SPDX-License-Identifier: Apache-2.0
#include "fact/cleanup.h"

#include <algorithm>
#include <array>

namespace ebb::fact {
namespace {

constexpr std::array<const char*, 8> kTriggers{"round",    "retained", "growth",  "critical",
                                               "pressure", "job",      "several", "unknown"};

}  // namespace

const char* name_of(Trigger trigger) {
  return kTriggers.at(static_cast<std::size_t>(trigger));
}

base::Result<Trigger> trigger_from(std::string_view name) {
  const auto* const found = std::find(kTriggers.begin(), kTriggers.end(), name);
  if (found == kTriggers.end()) {
    return base::error(base::Code::bad_input, "no cleanup happens for '%.*s'",
                       static_cast<int>(name.size()), name.data());
  }
  return static_cast<Trigger>(found - kTriggers.begin());
}

const char* name_of(Depth depth) {
  return depth == Depth::light ? "light" : "deep";
}

void Cleanup::count_returned() {
  const std::uint64_t most = before.rss.value_or(0);
  returned = after.rss ? most - std::min(most, *after.rss) : 0;
}

}  // namespace ebb::fact
