// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "cache/settings.h"
#include "cache/snapshot.h"
#include "replay/replayer.h"

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

/// Bytes of a free block in a segment, or of a block that is being waited for.
struct Piece {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

/// `waited` are blocks that were pending a moment ago, by address: what is free of them now counts
/// as pending.
Ledger ledger_of(const std::vector<cache::SnapshotSegment>& segments,
                 const cache::Settings& settings, const cache::VersionProfile& profile,
                 const std::vector<Piece>& waited = {});

/// What is held just after an operation. A request that fails waits for all streams first, but does
/// not look at what became free by that: that is pending too.
Ledger ledger_at(const Workload& workload, Setup setup, std::uint32_t operation);

base::Json to_json(const Ledger& ledger);

}  // namespace ebb::replay
