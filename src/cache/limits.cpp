// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/log.h"
#include "cache/core.h"

namespace ebb::cache {

base::Status Core::set_memory_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1)) {
    return base::error(base::Code::bad_input, "memory fraction %g: expected 0 to 1", fraction);
  }
  if (fraction >= 1 && !profile_.limits_full_fraction()) {
    set_limit(kUnlimited);
    return {};
  }
  std::uint64_t total = info_.total_memory;
  if (profile_.limits_full_fraction()) {
    const auto memory = driver_.memory(device_);
    if (!memory) return memory.error();
    total = memory->total;
  }
  const double bytes = fraction * static_cast<double>(total);
  set_limit(
      static_cast<std::uint64_t>(profile_.rounds_limit_to_nearest() ? std::round(bytes) : bytes));
  return {};
}

void Core::set_limit(std::uint64_t bytes) {
  limit_ = bytes;
  collecting_ = limit_ != kUnlimited && settings_.garbage_collection_threshold > 0;
}

void Core::apply(const Settings& settings) {
  settings_ = settings;
  if (settings_.expandable_segments && !info_.virtual_memory) {
    base::log(base::LogLevel::warning,
              "expandable_segments is not supported on this platform and stays off");
    settings_.expandable_segments = false;
  }
  round_ = Rounding(settings_, profile_);
  max_split_ = settings_.max_split_size;
  non_split_rounding_ = settings_.max_non_split_rounding;
  collecting_ = limit_ != kUnlimited && settings_.garbage_collection_threshold > 0;
  refresh_rules(default_, settings_, profile_);
  private_pools_.refresh();
}

}  // namespace ebb::cache
