// SPDX-License-Identifier: Apache-2.0
#include "keep/diagnosis.h"

#include "base/duration.h"
#include "keep/draft.h"
#include "keep/level.h"
#include "keep/live_judge.h"
#include "keep/outside_judge.h"
#include "keep/sureness.h"

namespace ebb::keep {
namespace {

using fact::FixKind;
using fact::Verdict;

/// Allocators that libraries bring for their own use.
void judge_private(Draft& draft) {
  if (const auto* silent = draft.beside.out_of_reach(); silent != nullptr && !draft.is_decided()) {
    draft.decide(Verdict::private_allocator, nullptr,
                 "most of the memory lies beside malloc, where " + fact::name_of(*silent) +
                     ", an allocator of the library's own, can neither be read nor asked to give "
                     "back",
                 FixKind::settings, setting_for(*silent));
    draft.call_it_a_guess("whose the memory beside malloc is cannot be told");
  }
  for (std::string& line : draft.beside.findings())
    draft.say(std::move(line));
}

void judge_files(Draft& draft) {
  const MemoryTrends& trends = draft.trends;
  if (draft.grows_for_good(trends.shmem, "shared memory", "a trend")) {
    draft.decide(Verdict::file_cache, &trends.shmem,
                 "shared memory that it has touched grows by " + rate_text(*trends.shmem.slope),
                 FixKind::code,
                 "Remove segments that are no longer used: shared memory stays until it is removed "
                 "(ls /dev/shm). One of a fixed size, such as a database's buffers, fills up once, "
                 "and nothing is to do");
  }
  if (draft.grows_for_good(trends.file, "mapped files", "a trend")) {
    draft.decide(Verdict::file_cache, &trends.file,
                 "pages of mapped files grow by " + rate_text(*trends.file.slope), FixKind::none,
                 "Nothing to do: the kernel takes them back when it needs memory");
  }
}

void judge_quiet(Draft& draft) {
  if (auto level = why_level(draft.series, draft.trends)) {
    draft.decide(Verdict::healthy, nullptr, std::move(*level), FixKind::none, "");
    return;
  }
  draft.decide(Verdict::not_enough_data, nullptr, why_undecided(draft.trends), FixKind::time,
               "Watch it longer");
}

void tell_time_until_limit(Draft& draft) {
  if (draft.found.pace <= 0) return;  // growth that is no verdict promises nothing
  if (const auto time = draft.trends.time_until_limit(draft.series)) {
    draft.found.seconds_until_limit = time->likely;
    draft.say("at this pace the limit is reached in " + base::duration_text(time->likely) + " (" +
              base::duration_text(time->soonest) + " at the earliest)");
  }
}

}  // namespace

ProcessDiagnosis diagnose(const MemorySeries& series) {
  Draft draft(series);
  const MemoryTrends& trends = draft.trends;
  if (trends.live.slope) {
    judge_with_live(draft);
  } else if (trends.floor.slope) {
    judge_by_floor(draft);
  } else {
    judge_from_outside(draft);
  }
  judge_private(draft);
  judge_files(draft);
  if (grows(trends.children)) {
    draft.say("together, the processes it started grow by " + rate_text(*trends.children.slope) +
              ": look at each of them");
  }
  if (!draft.is_decided()) judge_quiet(draft);
  state_confidence(draft);
  tell_time_until_limit(draft);
  ProcessDiagnosis& found = draft.found;
  if (trends.rss.slope) {
    found.rss_slope = rate_text(*trends.rss.slope);
    found.rss_growth = trends.rss.slope->per_second;
  }
  found.evidence = evidence_of(series, trends);
  return std::move(found);
}

}  // namespace ebb::keep
