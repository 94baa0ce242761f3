// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "cache/settings.h"
#include "cache/snapshot.h"

namespace ebb::replay {

/// Where every reserved byte is at one moment. The parts add up to `reserved`.
struct Ledger {
  std::uint64_t reserved = 0;
  std::uint64_t needed = 0;    ///< live requests, rounded to 512 as every PyTorch does
  std::uint64_t rounding = 0;  ///< by roundup_power2_divisions, and left-overs too small to split
  std::uint64_t oversize = 0;  ///< in blocks that max_split_size_mb hands out whole
  std::uint64_t pending = 0;   ///< freed by the job, still used by other streams
  std::uint64_t private_free = 0;  ///< free, but only for requests of one private pool
  std::uint64_t split_free = 0;    ///< free pieces beside live ones: cannot go back to the device
  std::uint64_t cached = 0;        ///< free as a whole: empty_cache would return it
};

Ledger ledger_of(const std::vector<cache::SnapshotSegment>& segments,
                 const cache::Settings& settings, const cache::VersionProfile& profile);

base::Json to_json(const Ledger& ledger);

}  // namespace ebb::replay
