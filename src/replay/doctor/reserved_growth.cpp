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
constexpr std::size_t kMostSizes = 3;

/// What goes beyond the recording, less what live memory adds to it; as a rule.
std::uint64_t growth_without_live(const Foresight& later, const Outcome& recorded) {
  const auto above = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
  std::vector<std::uint64_t> growths;
  for (const Followed& future : later.futures()) {
    growths.push_back(above(above(future.peak, recorded.peak_reserved),
                            above(future.allocated, recorded.peak_allocated)));
  }
  std::sort(growths.begin(), growths.end());
  return growths[(growths.size() - 1) / 2];
}

/// The requests that took what goes beyond this peak, by powers of two.
std::vector<GrowingSizes> sizes_above(std::uint64_t peak, const std::vector<Rise>& rises) {
  std::map<int, GrowingSizes> by_size;
  std::uint64_t reserved = 0;
  for (const Rise& rise : rises) {
    const std::uint64_t before = std::max(reserved, peak);
    reserved += rise.bytes;
    if (reserved <= before) continue;
    GrowingSizes& sizes = by_size[static_cast<int>(std::bit_width(rise.request))];
    sizes.smallest = sizes.requests == 0 ? rise.request : std::min(sizes.smallest, rise.request);
    sizes.largest = std::max(sizes.largest, rise.request);
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

std::string end_text(const ReservedGrowth& growth) {
  const std::string failing =
      base::format_text("out of memory in %llu of %llu futures",
                        static_cast<unsigned long long>(growth.out_of_memory),
                        static_cast<unsigned long long>(growth.futures));
  if (!growth.growth) return "runs " + failing;
  return text_of(*growth.growth) + (growth.out_of_memory != 0 ? "; it runs " + failing : "");
}

std::string beside_live(const ReservedGrowth& growth) {
  return growth.live > growth.from ? "by more than live memory does"
                                   : "though live memory does not";
}

std::optional<ReservedGrowth> find_reserved_growth(const Workload& workload, const Setup& setup,
                                                   const Outcome& recorded) {
  if (workload.operations.size() > kMostRecorded) return std::nullopt;
  const FutureMaker maker(workload);
  if (!maker.steps().repeats) return std::nullopt;
  const Foresight later = foresee(maker, workload.operations.size(), {setup}).front();
  ReservedGrowth found;
  found.from = recorded.peak_reserved;
  found.to = later.rule().peak;
  found.worst = later.worst().peak;
  found.live = later.rule().allocated;
  found.without_live = growth_without_live(later, recorded);
  if (!is_worthwhile(found.without_live, found.from)) return std::nullopt;
  found.futures = later.futures().size();
  found.growth = later.rule().growth;
  found.out_of_memory = later.out_of_memory();
  found.sizes = sizes_above(found.from, later.rule().rises);
  found.fan = later.fan();
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
  base::Json json = growth.growth ? to_json(*growth.growth) : base::Json::object({});
  json.set("from_bytes", growth.from);
  json.set("to_bytes", growth.to);
  json.set("worst_bytes", growth.worst);
  json.set("live_bytes", growth.live);
  json.set("without_live_bytes", growth.without_live);
  json.set("futures", growth.futures);
  json.set("out_of_memory_futures", growth.out_of_memory);
  json.set("sizes", std::move(sizes));
  return json;
}

}  // namespace ebb::replay
