// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/comparison.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "replay/doctor/origins.h"

namespace ebb::replay {
namespace {

constexpr std::size_t kMostChanges = 20;

struct Held {
  std::uint64_t bytes = 0;
  std::int64_t blocks = 0;
};
using ByPlace = std::map<std::vector<std::string>, Held>;

struct Totals {
  ByPlace places;
  std::uint64_t live = 0;
  std::uint64_t reserved = 0;
};

Totals totals_of(const trace::Snapshot& snapshot, std::optional<int> device) {
  Totals totals;
  for (const trace::Segment& segment : snapshot.segments) {
    if (device && segment.device != *device) continue;
    totals.reserved += segment.size;
    for (const trace::Block& block : segment.blocks) {
      if (block.state == trace::BlockState::inactive) continue;
      std::vector<std::string> frames = frame_lines(snapshot, block.stack);
      if (frames.empty()) {
        frames = {"blocks of " + base::bytes_text(block.size) + " (no stack recorded)"};
      }
      Held& held = totals.places[frames];
      held.bytes += block.size;
      ++held.blocks;
      totals.live += block.size;
    }
  }
  return totals;
}

}  // namespace

Comparison compare(const trace::Snapshot& here, const trace::Snapshot& there,
                   std::optional<int> device) {
  const Totals mine = totals_of(here, device);
  const Totals theirs = totals_of(there, device);
  Comparison comparison;
  comparison.live_here = mine.live;
  comparison.live_there = theirs.live;
  comparison.reserved_here = mine.reserved;
  comparison.reserved_there = theirs.reserved;
  std::map<std::vector<std::string>, Change> changes;
  for (const auto& [frames, held] : mine.places) {
    changes[frames].here = held.bytes;
    changes[frames].blocks += held.blocks;
  }
  for (const auto& [frames, held] : theirs.places) {
    changes[frames].there = held.bytes;
    changes[frames].blocks -= held.blocks;
  }
  for (auto& [frames, change] : changes) {
    if (change.growth() == 0) continue;
    change.frames = frames;
    comparison.changes.push_back(std::move(change));
  }
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const Change& a, const Change& b) { return a.growth() > b.growth(); });
  if (comparison.changes.size() > kMostChanges) comparison.changes.resize(kMostChanges);
  const std::uint64_t least = std::max(base::kMiB, theirs.live / 100);
  const bool grew = mine.live > theirs.live + least;
  comparison.verdict = grew ? fact::Verdict::leak : fact::Verdict::healthy;
  comparison.headline = "No more is live than before";
  if (!grew) return comparison;
  const Change& most = comparison.changes.front();
  comparison.headline = base::bytes_text(mine.live - theirs.live) + " more are live, most of it " +
                        most.frames.front() + " (" + base::signed_bytes_text(most.growth()) + ")";
  return comparison;
}

base::Json to_json(const Comparison& comparison) {
  base::Json changes = base::Json::array();
  for (const Change& change : comparison.changes) {
    base::Json frames = base::Json::array();
    for (const std::string& frame : change.frames) {
      frames.push(frame);
    }
    changes.push(base::Json::object({{"growth_bytes", change.growth()},
                                     {"here_bytes", change.here},
                                     {"there_bytes", change.there},
                                     {"blocks", change.blocks},
                                     {"frames", std::move(frames)}}));
  }
  fact::Diagnosis diagnosis;
  diagnosis.verdict = comparison.verdict;
  diagnosis.confidence = fact::Confidence::high;
  diagnosis.headline = comparison.headline;
  diagnosis.evidence = base::Json::object({{"kind", "comparison"},
                                           {"live_here_bytes", comparison.live_here},
                                           {"live_there_bytes", comparison.live_there},
                                           {"reserved_here_bytes", comparison.reserved_here},
                                           {"reserved_there_bytes", comparison.reserved_there},
                                           {"changes", std::move(changes)}});
  return fact::to_json(diagnosis);
}

}  // namespace ebb::replay
