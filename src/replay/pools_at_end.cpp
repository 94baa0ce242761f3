// SPDX-License-Identifier: Apache-2.0
#include "replay/pools_at_end.h"

#include <algorithm>
#include <map>

#include "replay/workload.h"

namespace ebb::replay {

using trace::Action;

PoolsAtEnd::PoolsAtEnd(const trace::Snapshot& snapshot, std::size_t device) {
  if (snapshot.has_pool_ids) return;
  for (const trace::Segment& segment : snapshot.segments) {
    if (segment.device < 0 || static_cast<std::size_t>(segment.device) != device) continue;
    if (segment.pool.is_default()) continue;
    held_.push_back({segment.address, segment.address + segment.size, segment.pool, 0});
  }
  if (held_.empty()) return;
  std::sort(held_.begin(), held_.end(),
            [](const Held& a, const Held& b) { return a.begin < b.begin; });
  // From the end, so that every range is looked at once however often it was given back.
  std::map<trace::Address, Held*> unseen;
  for (Held& held : held_) {
    unseen.emplace(held.begin, &held);
  }
  const std::vector<trace::Event>& events = history_of(snapshot, static_cast<int>(device));
  for (std::size_t i = events.size(); i-- > 0 && !unseen.empty();) {
    const trace::Event& event = events[i];
    if (event.action != Action::segment_free && event.action != Action::segment_unmap) continue;
    auto at = unseen.upper_bound(event.address);
    if (at != unseen.begin() && std::prev(at)->second->end > event.address) --at;
    while (at != unseen.end() && at->first < event.address + event.size) {
      at->second->since = i + 1;
      at = unseen.erase(at);
    }
  }
}

std::optional<trace::PoolId> PoolsAtEnd::pool_at(std::size_t event, trace::Address address) const {
  const auto after =
      std::upper_bound(held_.begin(), held_.end(), address,
                       [](trace::Address value, const Held& held) { return value < held.begin; });
  if (after == held_.begin()) return std::nullopt;
  const Held& held = *std::prev(after);
  if (address >= held.end || event < held.since) return std::nullopt;
  return held.pool;
}

}  // namespace ebb::replay
