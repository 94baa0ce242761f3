// SPDX-License-Identifier: Apache-2.0
#include "keep/kept_memory.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "keep/level.h"

namespace ebb::keep {
namespace {

using base::format_text;
using fact::FixKind;
using fact::Verdict;

// Retained bytes that stay this many and this share of the memory all the time are a verdict.
constexpr double kLeastRetained = 64 << 20;
constexpr double kLeastRetainedShare = 0.5;
// Cleanups that return less of what is retained have shown that it is in pieces; one may come too
// early.
constexpr double kLittleReturned = 0.1;
constexpr std::uint64_t kTellingCleanups = 2;
constexpr std::uint64_t kLeastShown = 1 << 20;

constexpr const char* kOtherAllocator =
    "Start the job on another allocator (ebb env --role server --allocator jemalloc), or with "
    "fewer arenas";

/// Whether cleanups came, and found next to nothing to return.
bool cleanups_returned_little(const MemorySeries& series) {
  const CleanupSum& sum = series.cleanups;
  return sum.count >= kTellingCleanups && !series.retained_after.empty() &&
         static_cast<double>(sum.largest) < kLittleReturned * series.retained_after.back().value;
}

}  // namespace

std::string what_cleanups_did(const CleanupSum& sum) {
  const std::string returned = base::bytes_text(sum.returned);
  if (sum.count == 1) return "the allocator keeps what is freed: a cleanup returned " + returned;
  return format_text("the allocator keeps what is freed: %llu cleanups returned %s, %s at a time",
                     static_cast<unsigned long long>(sum.count), returned.c_str(),
                     base::bytes_text(sum.typical).c_str());
}

bool cleanup_has_shown(const MemorySeries& series) {
  const double kept = series.retained.empty() ? 0 : series.retained.back().value;
  return series.cleanups.largest >= kLeastShown &&
         static_cast<double>(series.cleanups.largest) >= kLittleReturned * kept;
}

void decide_fragmentation(Draft& draft) {
  draft.decide(Verdict::fragmentation, &draft.trends.floor,
               "live bytes are level, and what cleanups leave grows by " +
                   rate_text(*draft.trends.floor.slope),
               FixKind::settings, kOtherAllocator);
}

void decide_growth_of_kept(Draft& draft, const trend::Assessment& growing) {
  const std::string rate = rate_text(*growing.slope);
  if (cleanups_returned_little(draft.series)) {
    draft.decide(
        Verdict::fragmentation, &growing,
        format_text("live bytes are level, and what the allocator keeps grows by %s: %llu "
                    "cleanups returned %s in all, since what is free is in pieces",
                    rate.c_str(), static_cast<unsigned long long>(draft.series.cleanups.count),
                    base::bytes_text(draft.series.cleanups.returned).c_str()),
        FixKind::settings, kOtherAllocator);
    return;
  }
  draft.decide(Verdict::retention, &growing,
               "live bytes are level, and what the allocator keeps grows by " + rate,
               FixKind::cleanup, kCleanUp);
}

void judge_level_of_kept(Draft& draft) {
  const MemoryTrends& trends = draft.trends;
  const Verdict so_far = draft.found.verdict;
  if (so_far == Verdict::retention || so_far == Verdict::fragmentation) return;
  if (so_far == Verdict::private_allocator) return;
  // A library is asked early, since nothing shows when it has something to give.
  const bool paid = trends.cleanups_paid(draft.series);
  if ((paid || trends.one_cleanup_paid(draft.series)) && draft.beside.explains_cleanups()) {
    draft.decide(Verdict::private_allocator, nullptr, draft.beside.what_cleanups_did(),
                 FixKind::settings, setting_for(*draft.beside.most_returned()));
    return;
  }
  if (paid) {
    draft.decide(Verdict::retention, nullptr, what_cleanups_did(draft.series.cleanups),
                 FixKind::cleanup,
                 "Keep cleaning up, or start the job with settings that keep less: see ebb env");
    return;
  }
  if (!trends.retained.slope || !trends.rss.slope) return;
  const double kept = std::min(trends.retained.slope->start, trends.retained.slope->end);
  const double level = std::max(trends.rss.slope->end, 1.0);
  if (kept >= kLeastRetained && kept >= kLeastRetainedShare * level) {
    draft.decide(Verdict::retention, nullptr,
                 format_text("the allocator keeps %s at all times, %.0f %% of rss: a cleanup could "
                             "return it",
                             base::bytes_text(static_cast<std::uint64_t>(kept)).c_str(),
                             std::min(100 * kept / level, 100.0)),
                 FixKind::cleanup, kCleanUp);
  }
}

}  // namespace ebb::keep
