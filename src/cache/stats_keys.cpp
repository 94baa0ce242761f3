// SPDX-License-Identifier: Apache-2.0
#include "cache/stats_keys.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/fork.h"

namespace ebb::cache {
namespace {

/// Calls `visit(key, value)` for every statistic that the version has. Keys are made only when
/// `visit` wants them.
template <class Visit>
void for_each_stat(const Stats& stats, const VersionProfile& profile, Visit&& visit) {
  const auto stat = [&](const char* name, const char* part, const Stat& numbers) {
    visit(name, part, ".current", numbers.current);
    visit(name, part, ".peak", numbers.peak);
    visit(name, part, ".allocated", numbers.allocated);
    visit(name, part, ".freed", numbers.freed);
  };
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    const PooledStat pooled = stats[metric];
    stat(name_of(metric), ".all", pooled.all);
    stat(name_of(metric), ".small_pool", pooled.small);
    stat(name_of(metric), ".large_pool", pooled.large);
  }
  stat("oversize_allocations", "", stats.oversize_allocations.stat());
  stat("oversize_segments", "", stats.oversize_segments.stat());
  const auto number = [&](const char* name, std::int64_t value) { visit(name, "", "", value); };
  number("num_alloc_retries", stats.num_alloc_retries);
  number("num_ooms", stats.num_ooms);
  number("max_split_size", stats.max_split_size);
  if (profile.at_least(3)) {
    number("num_sync_all_streams", stats.num_sync_all_streams);
    number("num_device_alloc", stats.num_device_alloc);
    number("num_device_free", stats.num_device_free);
  }
  if (profile.at_least(12)) number("num_oom_rejections", stats.num_oom_rejections);
}

/// The keys of one version, sorted, and where each stands in for_each_stat.
struct Layout {
  std::vector<std::string> keys;
  std::vector<std::size_t> places;
};

Layout layout_of(const VersionProfile& profile) {
  std::vector<std::string> keys;
  for_each_stat({}, profile, [&](const char* name, const char* part, const char* field, auto) {
    keys.push_back(std::string(name) + part + field);
  });
  Layout layout;
  layout.places.resize(keys.size());
  std::iota(layout.places.begin(), layout.places.end(), std::size_t{0});
  std::sort(layout.places.begin(), layout.places.end(),
            [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  for (const std::size_t place : layout.places) {
    layout.keys.push_back(keys[place]);
  }
  return layout;
}

const Layout& layout_for(const VersionProfile& profile) {
  // Keys were added in 2.3 and in 2.12.
  using Layouts = std::array<Layout, 3>;
  static std::atomic<const Layouts*> place;
  const auto make = [] {
    return new Layouts{layout_of(*profile_of(1)), layout_of(*profile_of(3)),
                       layout_of(*profile_of(12))};
  };
  const Layouts& layouts = base::made_once(place, make);
  return layouts[profile.at_least(12) ? 2 : profile.at_least(3) ? 1 : 0];
}

}  // namespace

const char* name_of(Metric metric) {
  static constexpr std::array<const char*, kMetrics> kNames = {
      "allocation",      "segment",        "active",       "inactive_split",
      "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
      "requested_bytes"};
  return kNames[static_cast<std::size_t>(metric)];
}

const std::vector<std::string>& stats_keys(const VersionProfile& profile) {
  return layout_for(profile).keys;
}

std::vector<std::int64_t> stats_values(const Stats& stats, const VersionProfile& profile) {
  const Layout& layout = layout_for(profile);
  std::vector<std::int64_t> unsorted;
  unsorted.reserve(layout.keys.size());
  for_each_stat(stats, profile, [&](const char*, const char*, const char*, std::int64_t value) {
    unsorted.push_back(value);
  });
  std::vector<std::int64_t> values(unsorted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = unsorted[layout.places[i]];
  }
  return values;
}

StatsTable memory_stats(const Stats& stats, const std::map<PoolId, PooledCounter>& private_reserved,
                        const VersionProfile& profile) {
  StatsTable table;
  const std::vector<std::string>& keys = stats_keys(profile);
  const std::vector<std::int64_t> values = stats_values(stats, profile);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    table.emplace_back(keys[i], values[i]);
  }
  if (!profile.at_least(13) || private_reserved.empty()) return table;
  for (const auto& [id, counter] : private_reserved) {
    const std::string prefix = "reserved_bytes_by_private_pools." + std::to_string(id.first) + "_" +
                               std::to_string(id.second);
    const PooledStat pooled = counter.stat();
    const std::pair<const char*, Stat> parts[] = {
        {".all", pooled.all}, {".small_pool", pooled.small}, {".large_pool", pooled.large}};
    for (const auto& [part, stat] : parts) {
      table.emplace_back(prefix + part + ".current", stat.current);
      table.emplace_back(prefix + part + ".peak", stat.peak);
      table.emplace_back(prefix + part + ".allocated", stat.allocated);
      table.emplace_back(prefix + part + ".freed", stat.freed);
    }
  }
  std::sort(table.begin(), table.end());
  return table;
}

}  // namespace ebb::cache
