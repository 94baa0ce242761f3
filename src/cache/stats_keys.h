// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/pool.h"
#include "cache/stats.h"
#include "cache/version.h"

namespace ebb::cache {

/// torch.cuda.memory_stats() of that version: its keys (119, 122 or 123, and from 2.13 those of
/// every private pool that ever held memory), sorted.
using StatsTable = std::vector<std::pair<std::string, std::int64_t>>;
StatsTable memory_stats(const Stats& stats, const std::map<PoolId, PooledCounter>& private_reserved,
                        const VersionProfile& profile);

/// The same in two parts, for who asks often: the keys without private pools, sorted, and the
/// values in their order.
const std::vector<std::string>& stats_keys(const VersionProfile& profile);
std::vector<std::int64_t> stats_values(const Stats& stats, const VersionProfile& profile);

/// PyTorch's name, e.g. "allocated_bytes".
const char* name_of(Metric metric);

}  // namespace ebb::cache
