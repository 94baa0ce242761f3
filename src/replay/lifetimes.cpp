// SPDX-License-Identifier: Apache-2.0
#include "replay/lifetimes.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kUnit = 2 * base::kMiB;

}  // namespace

Needs::Needs(const Workload& workload)
    : recorded_(workload.recording.settings, *cache::profile_of(workload.recording.newest_minor)) {}

std::uint64_t Needs::operator()(const Operation& op) const {
  if (op.bytes == 0 || op.bytes >= cache::kAbsurdSize) return 0;
  const std::uint64_t high = cache::round_up(op.bytes, cache::kMinBlock) / cache::kMinBlock;
  if (op.kind != Kind::failed) return high * cache::kMinBlock;
  std::uint64_t too_low = 0;
  std::uint64_t enough = high;
  while (too_low + 1 < enough) {
    const std::uint64_t middle = too_low + (enough - too_low) / 2;
    (recorded_(middle * cache::kMinBlock) >= op.bytes ? enough : too_low) = middle;
  }
  return enough * cache::kMinBlock;
}

std::vector<Lifetime> lifetimes_of(const Workload& workload) {
  const Needs needs(workload);
  std::vector<Lifetime> all(workload.blocks);
  std::vector<Lifetime> failed;
  const auto end = static_cast<std::uint32_t>(workload.operations.size());
  for (std::uint32_t i = 0; i < end; ++i) {
    const Operation& op = workload.operations[i];
    switch (op.kind) {
      case Kind::allocate:
        all[op.block] = {needs(op), op.block, i, end, end, op.stream, op.pool, false};
        break;
      case Kind::free:
        all[op.block].last = all[op.block].released = i;
        break;
      case Kind::free_later:
        all[op.block].released = i;
        break;
      case Kind::complete:
        all[op.block].last = i;
        break;
      case Kind::failed:
        if (needs(op) != 0) {
          failed.push_back({needs(op), 0, i, i + 1, i + 1, op.stream, op.pool, true});
        }
        break;
      case Kind::empty_cache:
        break;
    }
  }
  all.insert(all.end(), failed.begin(), failed.end());
  return all;
}

LowerBound lower_bound_of(const Workload& workload) {
  const Needs needs(workload);
  LowerBound bound;
  // Per pool, stream and half: small requests never share memory with large ones.
  struct Lane {
    std::uint64_t live = 0;
    std::uint64_t units = 0;
  };
  std::map<std::uint64_t, Lane> lanes;
  std::vector<std::uint64_t> sizes(workload.blocks);
  std::uint64_t live = 0;
  std::uint64_t in_units = 0;
  const auto change = [&](const Operation& op, std::uint64_t bytes, bool add) {
    const bool small = bytes <= cache::kSmallLimit;
    Lane& lane = lanes[(std::uint64_t{op.pool} << 17) | (std::uint64_t{op.stream} << 1) |
                       static_cast<std::uint64_t>(small)];
    live = add ? live + bytes : live - bytes;
    lane.live = add ? lane.live + bytes : lane.live - bytes;
    const std::uint64_t units = cache::round_up(lane.live, kUnit);
    in_units = in_units - lane.units + units;
    lane.units = units;
  };
  std::vector<std::uint32_t> first(workload.blocks);
  for (std::uint32_t i = 0; i < workload.operations.size(); ++i) {
    const Operation& op = workload.operations[i];
    const bool wants = op.kind == Kind::allocate || op.kind == Kind::failed;
    if (const std::uint64_t bytes = wants ? needs(op) : 0; bytes != 0) {
      change(op, bytes, true);
      if (live > bound.live) {
        bound.live = live;
        bound.operation = i;
      }
      bound.in_units = std::max(bound.in_units, in_units);
      if (op.kind == Kind::failed) {
        change(op, bytes, false);
      } else {
        sizes[op.block] = bytes;
        first[op.block] = i;
      }
    } else if (op.kind == Kind::free || op.kind == Kind::free_later) {
      change(workload.operations[first[op.block]], sizes[op.block], false);
      sizes[op.block] = 0;
    }
  }
  return bound;
}

std::vector<Lifetime> live_at(const std::vector<Lifetime>& lifetimes, std::uint32_t operation) {
  std::vector<Lifetime> live;
  std::copy_if(lifetimes.begin(), lifetimes.end(), std::back_inserter(live),
               [&](const Lifetime& life) {
                 return life.bytes != 0 && life.first <= operation && operation < life.released;
               });
  return live;
}

}  // namespace ebb::replay
