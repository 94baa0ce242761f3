// SPDX-License-Identifier: Apache-2.0
#include "cache/pool.h"

#include <algorithm>

#include "cache/rounding.h"

namespace ebb::cache {
namespace {

bool uses_expandable_segments(const PrivatePool& owner, const VersionProfile& profile) {
  switch (profile.private_expandable) {
    case PrivateExpandable::off:
    case PrivateExpandable::refused:
      return false;
    case PrivateExpandable::refused_custom:
    case PrivateExpandable::plain_custom:
      break;
  }
  return owner.options.source == nullptr;
}

void refresh_half(Pool& pool, const Settings& settings, const VersionProfile& profile) {
  const PrivatePool* owner = pool.owner;
  const bool custom = owner != nullptr && owner->options.source != nullptr;
  const bool on = settings.expandable_segments;
  // Up to 2.9 the option alone decides how finely blocks are split.
  const bool fine = on && !(custom && profile.at_least(10));
  pool.expandable = on && (owner == nullptr || uses_expandable_segments(*owner, profile));
  pool.least_remainder = pool.small || fine ? kMinBlock : kSmallLimit + 1;
  pool.split_below = pool.small || fine ? kUnlimited : settings.max_split_size;
  if (owner != nullptr && owner->options.no_split && profile.at_least(10)) pool.split_below = 0;
}

}  // namespace

void set_up(PoolPair& pools, PrivatePool* owner) {
  pools.small.small = true;
  pools.small.owner = owner;
  pools.large.owner = owner;
}

void refresh_rules(PoolPair& pools, const Settings& settings, const VersionProfile& profile) {
  refresh_half(pools.small, settings, profile);
  refresh_half(pools.large, settings, profile);
}

Lane* Pool::find_other_lane(StreamId stream) {
  const auto at = std::lower_bound(lanes.begin(), lanes.end(), stream,
                                   [](const Lane* lane, StreamId s) { return lane->stream < s; });
  if (at == lanes.end() || (*at)->stream != stream) return nullptr;
  recent = *at;
  return recent;
}

}  // namespace ebb::cache
