// SPDX-License-Identifier: Apache-2.0
#include "fl/standstill.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/bytes.h"

namespace ebb::fl {
namespace {

constexpr std::uint64_t kCloseToLimit = 256 * base::kMiB;
constexpr double kLongestAsking = 1;
constexpr double kLongestSleep = 2;

bool is_near(std::uint64_t used, std::uint64_t limit) {
  return limit != RLIM_INFINITY && used + kCloseToLimit >= limit;
}

}  // namespace

bool Standstill::lasts(const sense::ProcessReading& now, double seconds, const Mappings& limits) {
  const Mappings peak{now.virtual_peak.value_or(now.virtual_size),
                      std::max(now.data.value_or(0), peak_.data)};
  const bool is_close = is_near(peak.space, limits.space) || is_near(peak.data, limits.data);
  const bool moves = peak.space > peak_.space || peak.data > peak_.data ||
                     now.minor_faults > since_.minor_faults || !is_close;
  if (moves) since_ = now;
  if (moves || now.state != 'S' || now.cpu_seconds > cpu_) asleep_since_ = seconds;
  peak_ = peak;
  cpu_ = now.cpu_seconds;
  const double asking = now.system_seconds - since_.system_seconds;
  return (asking > kLongestAsking && 2 * asking > now.cpu_seconds - since_.cpu_seconds) ||
         seconds - asleep_since_ > kLongestSleep;
}

}  // namespace ebb::fl
