// SPDX-License-Identifier: Apache-2.0
// Any settings string, for any version: values inside their limits, or one line with a column.
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "cache/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ebb::base::set_log_level(ebb::base::LogLevel::off);
  if (size == 0) return 0;
  const auto profile = ebb::cache::profile_of(1 + data[0] % 15);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto settings = ebb::cache::parse_settings(text, *profile);
  if (!settings) {
    if (settings.error().message.find("column ") == std::string::npos) std::abort();
    return 0;
  }
  const bool sound = settings->max_split_size >= 20 * ebb::base::kMiB &&
                     settings->large_segment_size >= 11 * ebb::base::kMiB &&
                     settings->max_non_split_rounding >= 11 * ebb::base::kMiB &&
                     settings->garbage_collection_threshold >= 0 &&
                     settings->garbage_collection_threshold < 1 && settings->memory_fraction >= 0 &&
                     settings->memory_fraction <= 1;
  if (!sound) std::abort();
  return 0;
}
