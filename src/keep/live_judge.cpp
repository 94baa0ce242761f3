// SPDX-License-Identifier: Apache-2.0
#include "keep/live_judge.h"

#include <algorithm>

#include "keep/kept_memory.h"
#include "keep/level.h"

namespace ebb::keep {
namespace {

using fact::FixKind;
using fact::Verdict;
using trend::Assessment;

constexpr double kDwarfedShare = 0.25;
// A leak this much slower than what the allocator keeps is not what fills the memory.
constexpr double kDwarfedLeak = 0.05;

bool is_dwarfed_by_retained(const MemoryTrends& trends) {
  return grows(trends.retained, kClearGrowth) &&
         trends.live.slope->per_second < kDwarfedLeak * trends.retained.slope->per_second;
}

void decide_leak(Draft& draft) {
  const MemoryTrends& trends = draft.trends;
  if (is_dwarfed_by_retained(trends)) decide_growth_of_kept(draft, trends.retained);
  draft.decide(Verdict::leak, &trends.live, "live bytes grow by " + rate_text(*trends.live.slope),
               FixKind::code, "Free what every round allocates and nothing frees");
  if (draft.found.verdict != Verdict::leak) return;
  if (grows(trends.retained)) {
    draft.decide(Verdict::retention, &trends.retained,
                 "retained bytes grow by " + rate_text(*trends.retained.slope), FixKind::none, "");
  } else if (trends.cleanups_paid(draft.series) && draft.beside.explains_cleanups()) {
    draft.decide(Verdict::private_allocator, nullptr, draft.beside.what_cleanups_did(),
                 FixKind::none, "");
  } else if (trends.cleanups_paid(draft.series)) {
    draft.decide(Verdict::retention, nullptr, what_cleanups_did(draft.series.cleanups),
                 FixKind::none, "");
  }
}

/// Whether memory beside malloc has risen, from floor to floor, by a good part of the growth;
/// true where it was not read. Between floors it says little: figures of one process are read one
/// after the other.
bool lies_beside(const Draft& draft, const Assessment& growing) {
  const std::vector<trend::Point> quarters = trend::floors(draft.series.beside, 4);
  return quarters.size() < 4 || quarters[3].value - quarters[0].value >= growing.growth() / 4;
}

void decide_foreign(Draft& draft, const Assessment& growing) {
  if (!lies_beside(draft, growing)) return;
  const std::string suspects = draft.beside.suspects();
  draft.decide(Verdict::foreign, &growing,
               "memory outside the allocator grows by " + rate_text(*growing.slope) +
                   (suspects.empty() ? "" : "; " + suspects + " may hold it"),
               FixKind::code,
               "Look for memory that does not come from malloc: Python's small objects, pinned "
               "buffers, caches of a library");
}

/// Whether the allocator may hold half of the growth or more: because what it retains grows so
/// fast, or because cleanups return it.
bool may_be_retained(const Draft& draft, const Assessment& growing) {
  const MemoryTrends& trends = draft.trends;
  const double half = growing.slope->per_second / 2;
  return trends.retained.slope->per_second >= half ||
         (trends.floor.slope && trends.floor.slope->per_second < half &&
          trends.cleanups_paid(draft.series));
}

/// Where retained bytes have no slope, they still have a highest value.
bool is_more_than_retained(const Draft& draft, const Assessment& growing) {
  if (draft.series.retained.empty()) return false;
  double most = 0;
  for (const trend::Point& point : draft.series.retained)
    most = std::max(most, point.value);
  return most < growing.growth() / 2;
}

/// What is in use does not account for the growth, and nothing says how much is kept.
void judge_with_live_alone(Draft& draft, const Assessment& growing) {
  const MemoryTrends& trends = draft.trends;
  if (grows(growing, kClearGrowth) && is_more_than_retained(draft, growing)) {
    decide_foreign(draft, growing);
  } else if (grows(trends.floor, kClearGrowth)) {
    decide_fragmentation(draft);
  } else if (draft.grows_for_good(trends.anon, "memory", "retention")) {
    if (!trends.cleanups_paid(draft.series)) {
      draft.call_it_a_guess(
          "what the allocator keeps was read too seldom: that it is what grows is taken from the "
          "rest");
    }
    decide_growth_of_kept(draft, trends.anon);
  }
}

}  // namespace

void judge_with_live(Draft& draft) {
  const MemoryTrends& trends = draft.trends;
  if (draft.grows_for_good(trends.live, "what is in use", "a leak")) {
    decide_leak(draft);
    return;
  }
  const Assessment& growing = grows(trends.floor) ? trends.floor : trends.anon;
  // If live bytes may account for half of the growth, nothing can be said yet.
  const bool live_is_level =
      !grows(growing) || trends.live.slope->per_second < growing.slope->per_second / 2;
  if (!live_is_level) return;
  if (!trends.retained.slope) {
    judge_with_live_alone(draft, growing);
  } else if (draft.grows_for_good(trends.retained, "what the allocator keeps", "retention")) {
    if (grows(trends.floor, kClearGrowth)) {
      decide_fragmentation(draft);
    } else {
      decide_growth_of_kept(draft, trends.retained);
    }
  } else if (grows(growing, kClearGrowth) && !may_be_retained(draft, growing)) {
    // Where one cleanup returns several times what grew, retention is the verdict and this
    // growth comes second.
    if (growing.growth() < kDwarfedShare * static_cast<double>(draft.series.cleanups.typical))
      judge_level_of_kept(draft);
    decide_foreign(draft, growing);
  }
  judge_level_of_kept(draft);
}

}  // namespace ebb::keep
