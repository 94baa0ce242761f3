// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/growth.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::replay {
namespace {

/// The last step, counted from 1, that brought a new peak.
std::uint64_t last_rise(const std::vector<StepEnd>& steps) {
  std::uint64_t rise = 0;
  for (std::uint64_t step = 0; step < steps.size(); ++step) {
    const std::uint64_t before = step == 0 ? 0 : steps[step - 1].peak_reserved;
    if (steps[step].peak_reserved > before) rise = step + 1;
  }
  return rise;
}

/// Bytes a step over the later half of them.
double slope_of(const std::vector<StepEnd>& steps, std::uint64_t StepEnd::*what) {
  const std::size_t half = steps.size() / 2;
  if (half + 1 >= steps.size()) return 0;
  const auto rise =
      static_cast<double>(steps.back().*what) - static_cast<double>(steps[half].*what);
  return rise / static_cast<double>(steps.size() - 1 - half);
}

}  // namespace

std::string text_of(const Growth& growth) {
  if (growth.stops_after_steps) {
    const auto steps = static_cast<unsigned long long>(*growth.stops_after_steps);
    return base::format_text("stands still after %llu step%s", steps, steps == 1 ? "" : "s");
  }
  const auto rounded = [](double bytes) {
    return base::bytes_text(static_cast<std::uint64_t>(std::max(0.0, bytes)));
  };
  std::string text = base::format_text("still grows after %llu steps, by %s a step",
                                       static_cast<unsigned long long>(growth.steps),
                                       rounded(growth.bytes_per_step).c_str());
  // What the job itself keeps is not the allocator's doing.
  if (growth.live_bytes_per_step > growth.bytes_per_step / 2)
    text += base::format_text("; the job's own live memory grows by %s a step",
                              rounded(growth.live_bytes_per_step).c_str());
  return text;
}

base::Json to_json(const Growth& growth) {
  if (growth.stops_after_steps)
    return base::Json::object({{"stops_after_steps", *growth.stops_after_steps}});
  return base::Json::object({
      {"bytes_per_step", growth.bytes_per_step},
      {"live_bytes_per_step", growth.live_bytes_per_step},
      {"steps", growth.steps},
  });
}

bool stands_still(const std::vector<StepEnd>& steps) {
  return 2 * last_rise(steps) <= steps.size();
}

Growth growth_in(const std::vector<StepEnd>& steps) {
  Growth growth;
  growth.steps = steps.empty() ? 0 : steps.size() - 1;
  growth.bytes_per_step = slope_of(steps, &StepEnd::peak_reserved);
  growth.live_bytes_per_step = slope_of(steps, &StepEnd::allocated);
  if (!stands_still(steps)) return growth;
  const std::uint64_t rise = last_rise(steps);
  growth.stops_after_steps = rise == 0 ? 0 : rise - 1;
  return growth;
}

}  // namespace ebb::replay
