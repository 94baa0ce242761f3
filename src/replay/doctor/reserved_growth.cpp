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
constexpr std::size_t kFuturesFollowed = 4;
constexpr std::size_t kMostSizes = 3;

/// What goes beyond the recording, less what live memory adds to it.
std::uint64_t growth_without_live(const Outcome& later, const Outcome& recorded) {
  const auto above = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  return above(above(later.peak_reserved, recorded.peak_reserved),
               above(later.peak_allocated, recorded.peak_allocated));
}

/// The requests that took what goes beyond this peak, by powers of two.
std::vector<GrowingSizes> sizes_above(std::uint64_t peak, const Continuation& continuation) {
  std::map<int, GrowingSizes> by_size;
  std::uint64_t reserved = 0;
  for (const Rise& rise : continuation.outcome.rises) {
    const std::uint64_t before = std::max(reserved, peak);
    reserved += rise.bytes;
    if (reserved <= before) continue;
    const std::uint64_t bytes = continuation.future.work.operations[rise.operation].bytes;
    GrowingSizes& sizes = by_size[static_cast<int>(std::bit_width(bytes))];
    sizes.smallest = sizes.requests == 0 ? bytes : std::min(sizes.smallest, bytes);
    sizes.largest = std::max(sizes.largest, bytes);
    ++sizes.requests;
    sizes.bytes += reserved - before;
  }
  std::vector<GrowingSizes> found;
  for (const auto& [width, sizes] : by_size) {
    found.push_back(sizes);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const GrowingSizes& a, const GrowingSizes& b) { return a.bytes > b.bytes; });
  found.resize(std::min(found.size(), kMostSizes));
  return found;
}

}  // namespace

std::string text_of(const GrowingSizes& sizes) {
  const std::string smallest = base::bytes_text(sizes.smallest);
  const std::string largest = base::bytes_text(sizes.largest);
  const std::string range = smallest == largest ? smallest : smallest + " to " + largest;
  return base::bytes_text(sizes.bytes) + " for requests of " + range;
}

std::optional<ReservedGrowth> find_reserved_growth(const Workload& workload, const Setup& setup,
                                                   const Outcome& recorded) {
  const std::uint64_t operations = workload.operations.size();
  if (operations > kMostRecorded) return std::nullopt;
  const FutureMaker maker(workload);
  if (!maker.steps().repeats) return std::nullopt;
  Setup ahead = setup;
  ahead.as_recorded = false;
  ahead.keep_rises = true;
  std::vector<Continuation> futures;
  if (maker.varies()) {
    for (std::uint64_t number = 1; number <= kFuturesFollowed; ++number)
      futures.push_back(follow(maker, number, operations, ahead, kMostFollowed));
  } else {
    futures.push_back(follow(maker, 0, operations, ahead, kMostFollowed));
  }
  std::sort(futures.begin(), futures.end(), [&](const Continuation& a, const Continuation& b) {
    return growth_without_live(a.outcome, recorded) < growth_without_live(b.outcome, recorded);
  });
  // Of four futures the second: three grow at least as much.
  const Continuation& rule = futures[(futures.size() - 1) / 2];
  ReservedGrowth found;
  found.from = recorded.peak_reserved;
  found.to = rule.outcome.peak_reserved;
  found.live = rule.outcome.peak_allocated;
  found.without_live = growth_without_live(rule.outcome, recorded);
  if (!is_worthwhile(found.without_live, found.from)) return std::nullopt;
  for (const Continuation& future : futures)
    found.worst = std::max(found.worst, future.outcome.peak_reserved);
  found.futures = futures.size();
  found.growth = rule.growth;
  found.sizes = sizes_above(found.from, rule);
  const std::size_t once = std::min(maker.steps().steady, rule.outcome.steps.size());
  found.steps.assign(rule.outcome.steps.begin() + static_cast<std::ptrdiff_t>(once),
                     rule.outcome.steps.end());
  return found;
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
  json.set("worst_bytes", growth.worst);
  json.set("live_bytes", growth.live);
  json.set("without_live_bytes", growth.without_live);
  json.set("futures", growth.futures);
  json.set("sizes", std::move(sizes));
  return json;
}

}  // namespace ebb::replay
