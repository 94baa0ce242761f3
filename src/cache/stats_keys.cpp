// SPDX-License-Identifier: Apache-2.0
#include "cache/stats_keys.h"

#include <algorithm>
#include <array>

namespace ebb::cache {
namespace {

void add(StatsTable& table, const std::string& prefix, const Stat& stat) {
  table.emplace_back(prefix + ".current", stat.current);
  table.emplace_back(prefix + ".peak", stat.peak);
  table.emplace_back(prefix + ".allocated", stat.allocated);
  table.emplace_back(prefix + ".freed", stat.freed);
}

void add(StatsTable& table, const std::string& prefix, const PooledStat& stat) {
  add(table, prefix + ".all", stat.all);
  add(table, prefix + ".small_pool", stat.small);
  add(table, prefix + ".large_pool", stat.large);
}

}  // namespace

const char* name_of(Metric metric) {
  static constexpr std::array<const char*, kMetrics> kNames = {
      "allocation",      "segment",        "active",       "inactive_split",
      "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
      "requested_bytes"};
  return kNames[static_cast<std::size_t>(metric)];
}

StatsTable memory_stats(const Stats& stats, const std::map<PoolId, PooledCounter>& private_reserved,
                        const VersionProfile& profile) {
  StatsTable table;
  for (std::size_t i = 0; i < kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    add(table, name_of(metric), stats[metric]);
  }
  add(table, "oversize_allocations", stats.oversize_allocations.stat());
  add(table, "oversize_segments", stats.oversize_segments.stat());
  table.emplace_back("num_alloc_retries", stats.num_alloc_retries);
  table.emplace_back("num_ooms", stats.num_ooms);
  table.emplace_back("max_split_size", stats.max_split_size);
  if (profile.at_least(3)) {
    table.emplace_back("num_sync_all_streams", stats.num_sync_all_streams);
    table.emplace_back("num_device_alloc", stats.num_device_alloc);
    table.emplace_back("num_device_free", stats.num_device_free);
  }
  if (profile.at_least(12)) table.emplace_back("num_oom_rejections", stats.num_oom_rejections);
  if (profile.at_least(13)) {
    for (const auto& [id, counter] : private_reserved) {
      add(table,
          "reserved_bytes_by_private_pools." + std::to_string(id.first) + "_" +
              std::to_string(id.second),
          counter.stat());
    }
  }
  std::sort(table.begin(), table.end());
  return table;
}

}  // namespace ebb::cache
