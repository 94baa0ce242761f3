// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/ledger.h"

#include <algorithm>

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

/// Bytes of a free block that lie in one of the pieces.
std::uint64_t bytes_in(const cache::SnapshotBlock& block, const std::vector<Piece>& pieces) {
  const auto ends_before = [](const Piece& piece, std::uint64_t address) {
    return piece.address + piece.size <= address;
  };
  std::uint64_t bytes = 0;
  for (auto at = std::lower_bound(pieces.begin(), pieces.end(), block.address, ends_before);
       at != pieces.end() && at->address < block.address + block.size; ++at) {
    bytes += std::min(at->address + at->size, block.address + block.size) -
             std::max(at->address, block.address);
  }
  return bytes;
}

std::vector<Piece> pending_in(const std::vector<cache::SnapshotSegment>& segments) {
  std::vector<Piece> pieces;
  for (const cache::SnapshotSegment& segment : segments) {
    for (const cache::SnapshotBlock& block : segment.blocks) {
      if (block.state == BlockState::active_pending_free) {
        pieces.push_back({block.address, block.size});
      }
    }
  }
  return pieces;
}

}  // namespace

Ledger ledger_of(const std::vector<cache::SnapshotSegment>& segments,
                 const cache::Settings& settings, const cache::VersionProfile& profile,
                 const std::vector<Piece>& waited) {
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
        const std::uint64_t pending = std::min(block.size - whole, bytes_in(block, waited));
        ledger.cached += whole;
        ledger.pending += pending;
        ledger.split_free += block.size - whole - pending;
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

Ledger ledger_at(const Workload& workload, Setup setup, std::uint32_t operation) {
  setup.keep_segments = true;
  std::vector<Piece> waited;
  if (operation > 0) {
    setup.last_operation = operation - 1;
    waited = pending_in(replay(workload, setup).segments);
  }
  setup.last_operation = operation;
  return ledger_of(replay(workload, setup).segments, setup.settings, setup.profile, waited);
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
