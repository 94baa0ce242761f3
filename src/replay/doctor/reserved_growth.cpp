// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/reserved_growth.h"

#include <algorithm>
#include <bit>
#include <map>

#include "base/bytes.h"
#include "base/text.h"
#include "replay/doctor/worthwhile.h"

namespace ebb::replay {
namespace {

constexpr std::uint64_t kMostRecorded = 2'000'000;
/// Operations of one future.
constexpr std::uint64_t kMostFollowed = 2'000'000;
constexpr std::size_t kMostSizes = 3;

/// A future that nobody has judged yet.
std::optional<ReservedGrowth> growth_in(const Continuation& continuation, std::size_t first_step) {
  const std::vector<StepEnd>& steps = continuation.outcome.steps;
  if (first_step >= steps.size()) return std::nullopt;
  ReservedGrowth found;
  found.from = steps[first_step].peak_reserved;
  found.to = steps.back().peak_reserved;
  found.live = steps.back().peak_allocated;
  found.growth = continuation.growth;
  found.steps.assign(steps.begin() + static_cast<std::ptrdiff_t>(first_step), steps.end());
  std::size_t rising = 0;
  std::map<int, GrowingSizes> by_size;  // of a power of two
  auto rise = continuation.outcome.rises.begin();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const bool counts = s > first_step && steps[s].peak_allocated == steps[s - 1].peak_allocated;
    const std::uint64_t before = found.without_live;
    for (;
         rise != continuation.outcome.rises.end() && rise->operation < continuation.future.ends[s];
         ++rise) {
      if (!counts) continue;
      const std::uint64_t bytes = continuation.future.work.operations[rise->operation].bytes;
      GrowingSizes& sizes = by_size[static_cast<int>(std::bit_width(bytes))];
      sizes.smallest = sizes.requests == 0 ? bytes : std::min(sizes.smallest, bytes);
      sizes.largest = std::max(sizes.largest, bytes);
      ++sizes.requests;
      sizes.bytes += rise->bytes;
      found.without_live += rise->bytes;
    }
    if (found.without_live != before) ++rising;
  }
  if (rising < 2 || !is_worthwhile(found.without_live, found.to)) return std::nullopt;
  for (const auto& [width, sizes] : by_size) {
    found.sizes.push_back(sizes);
  }
  std::stable_sort(found.sizes.begin(), found.sizes.end(),
                   [](const GrowingSizes& a, const GrowingSizes& b) { return a.bytes > b.bytes; });
  found.sizes.resize(std::min(found.sizes.size(), kMostSizes));
  return found;
}

}  // namespace

std::string text_of(const GrowingSizes& sizes) {
  const std::string smallest = base::bytes_text(sizes.smallest);
  const std::string largest = base::bytes_text(sizes.largest);
  const std::string range = smallest == largest ? smallest : smallest + " to " + largest;
  return base::bytes_text(sizes.bytes) + " for requests of " + range;
}

std::optional<ReservedGrowth> find_reserved_growth(const Workload& workload, const Setup& setup) {
  const std::uint64_t recorded = workload.operations.size();
  if (recorded > kMostRecorded) return std::nullopt;
  const FutureMaker maker(workload);
  if (!maker.steps().repeats) return std::nullopt;
  Setup ahead = setup;
  ahead.as_recorded = false;
  ahead.keep_rises = true;
  std::optional<ReservedGrowth> worst;
  for (std::uint64_t number = 0; number < (maker.varies() ? 2U : 1U); ++number) {
    const Continuation continuation = follow(maker, number, recorded, ahead, kMostFollowed);
    auto found = growth_in(continuation, maker.steps().steady);
    if (found && (!worst || found->to > worst->to)) worst = std::move(found);
  }
  // What was there when recording began has its own history, which no future repeats.
  const bool seen_before =
      worst && !workload.initial.empty() && worst->to <= workload.recording.peak_reserved;
  return seen_before ? std::nullopt : worst;
}

base::Json to_json(const ReservedGrowth& growth) {
  base::Json sizes = base::Json::array();
  for (const GrowingSizes& each : growth.sizes) {
    sizes.push(base::Json::object({
        {"smallest_bytes", each.smallest},
        {"largest_bytes", each.largest},
        {"requests", each.requests},
        {"bytes", each.bytes},
    }));
  }
  base::Json json = to_json(growth.growth);
  json.set("from_bytes", growth.from);
  json.set("to_bytes", growth.to);
  json.set("live_bytes", growth.live);
  json.set("without_live_bytes", growth.without_live);
  json.set("sizes", std::move(sizes));
  return json;
}

}  // namespace ebb::replay
