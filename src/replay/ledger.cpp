// SPDX-License-Identifier: Apache-2.0
#include "replay/ledger.h"

#include "cache/rounding.h"

namespace ebb::replay {
namespace {

using cache::BlockState;

/// Bytes of a free block that are whole pages of an expandable segment: those can be unmapped.
std::uint64_t whole_pages(const cache::SnapshotBlock& block, std::uint64_t base,
                          std::uint64_t page) {
  const std::uint64_t first = cache::round_up(block.address - base, page);
  const std::uint64_t last = (block.address - base + block.size) / page * page;
  return last > first ? last - first : 0;
}

}  // namespace

Ledger ledger_of(const std::vector<cache::SnapshotSegment>& segments,
                 const cache::Settings& settings, const cache::VersionProfile& profile) {
  const cache::Rounding round(settings, profile);
  Ledger ledger;
  for (const cache::SnapshotSegment& segment : segments) {
    ledger.reserved += segment.total_size;
    const std::uint64_t page = segment.small ? cache::kSmallSegment : settings.large_segment_size;
    for (const cache::SnapshotBlock& block : segment.blocks) {
      if (block.state == BlockState::active_pending_free) {
        ledger.pending += block.size;
        continue;
      }
      if (block.state == BlockState::inactive) {
        if (!segment.pool.is_default()) {
          ledger.private_free += block.size;
          continue;
        }
        const std::uint64_t whole = segment.expandable
                                        ? whole_pages(block, segment.address, page)
                                        : (segment.blocks.size() == 1 ? block.size : 0);
        ledger.cached += whole;
        ledger.split_free += block.size - whole;
        continue;
      }
      const std::uint64_t requested = std::max<std::uint64_t>(block.requested_size, 1);
      const std::uint64_t least =
          std::min(block.size, cache::round_up(requested, cache::kMinBlock));
      const std::uint64_t rounded = std::min(block.size, std::max(least, round(requested)));
      ledger.needed += least;
      ledger.rounding += rounded - least;
      const bool whole = block.size >= settings.max_split_size;
      (whole ? ledger.oversize : ledger.rounding) += block.size - rounded;
    }
  }
  return ledger;
}

base::Json to_json(const Ledger& ledger) {
  return base::Json::object({
      {"reserved_bytes", ledger.reserved},
      {"needed_bytes", ledger.needed},
      {"rounding_bytes", ledger.rounding},
      {"oversize_bytes", ledger.oversize},
      {"pending_bytes", ledger.pending},
      {"private_free_bytes", ledger.private_free},
      {"split_free_bytes", ledger.split_free},
      {"cached_bytes", ledger.cached},
  });
}

}  // namespace ebb::replay
