// SPDX-License-Identifier: Apache-2.0
#include "keep/outside_judge.h"

#include "base/duration.h"
#include "base/text.h"
#include "keep/kept_memory.h"
#include "keep/level.h"

namespace ebb::keep {
namespace {

using base::format_text;
using fact::FixKind;
using fact::Verdict;

// Seen from outside, shorter growth may be a part of one round.
constexpr double kLeastFromOutside = 10;

}  // namespace

void judge_by_floor(Draft& draft) {
  const trend::Assessment& floor = draft.trends.floor;
  draft.say("live bytes are not known: judged by what cleanups leave behind");
  if (draft.grows_for_good(floor, "what is in use", "a leak")) {
    draft.decide(Verdict::leak, &floor, "what cleanups leave grows by " + rate_text(*floor.slope),
                 FixKind::code,
                 "Free what every round allocates and nothing frees; an allocator that counts live "
                 "bytes would settle the question (docs/allocators.md)");
  }
  judge_level_of_kept(draft);
}

void judge_from_outside(Draft& draft) {
  const MemorySeries& series = draft.series;
  const trend::Assessment& anon = draft.trends.anon;
  if (!grows(anon)) {
    judge_level_of_kept(draft);
    return;
  }
  if (anon.span_seconds < kLeastFromOutside) {
    draft.say("memory grew by " + bytes_of(anon.growth()) + " in " +
              base::duration_text(anon.span_seconds) +
              ", which may be a part of a round: too early to call it a leak");
    return;
  }
  if (draft.trends.is_kept_by_few_readings(series)) {
    draft.call_it_a_guess(
        format_text("live bytes were read %zu times only, and hardly rose", series.live.size()));
    decide_growth_of_kept(draft, anon);
    return;
  }
  const std::string rate = rate_text(*anon.slope);
  const std::string live =
      series.live.empty()
          ? "live bytes are not known"
          : format_text("live bytes cannot be judged yet (%zu readings)", series.live.size());
  draft.say(live + ": growth may be a leak or memory that the allocator keeps");
  if (anon.period && is_steady(draft.trends.peaks(series))) {
    draft.decide(Verdict::retention, &anon,
                 "the floor between rounds grows by " + rate +
                     " while the peaks do not: the job uses again what the allocator keeps",
                 FixKind::cleanup, kCleanUp);
    return;
  }
  if (may_be_warm_up(anon)) return;
  draft.decide(Verdict::leak, &anon, "anonymous memory grows by " + rate, FixKind::probe,
               "Clean up once inside the process (ebb_cleanup, docs/cleanup.md): if rss falls back "
               "it was retention, if not it is a leak");
}

}  // namespace ebb::keep
