// SPDX-License-Identifier: Apache-2.0
#include "keep/sureness.h"

#include "base/duration.h"
#include "base/text.h"
#include "keep/kept_memory.h"
#include "keep/level.h"

namespace ebb::keep {
namespace {

using fact::Confidence;
using fact::Verdict;

constexpr double kShortObservation = 60;
// After a change of pace or level.
constexpr double kShortStretch = 30;
// Of the stretch that a pace is drawn from: what happened in it is not known.
constexpr double kLargeHole = 0.25;

/// Why a pace may be another one, in sentences.
std::vector<std::string> doubts_about(const trend::Assessment& growth) {
  std::vector<std::string> doubts;
  const std::string stretch = base::duration_text(growth.settled_seconds);
  if (growth.settled_seconds < kShortStretch || !grows(growth, kClearGrowth)) {
    doubts.push_back("the pace is drawn from " + bytes_of(growth.growth()) + " in " + stretch +
                     ": too little to be sure of it");
  }
  if (growth.longest_hole > kLargeHole * growth.settled_seconds) {
    doubts.push_back("nothing was read for " + base::duration_text(growth.longest_hole) +
                     " of the " + stretch + " that the pace is drawn from");
  }
  return doubts;
}

std::vector<std::string> doubts_of(const Draft& draft) {
  std::vector<std::string> doubts;
  if (draft.growth() != nullptr) doubts = doubts_about(*draft.growth());
  if (draft.found.verdict == Verdict::retention && !cleanup_has_shown(draft.series)) {
    doubts.emplace_back(draft.series.cleanups.count == 0
                            ? "no cleanup was tried: whether one returns it is not known"
                            : "cleanups returned hardly any of it so far");
  }
  return doubts;
}

}  // namespace

void state_confidence(Draft& draft) {
  const Verdict verdict = draft.found.verdict;
  if (verdict == Verdict::not_enough_data) return;
  const double seconds = draft.trends.rss.span_seconds;
  const bool is_short = seconds < kShortObservation;
  if (is_short) {
    draft.say("observed for " + base::duration_text(seconds) +
              " only: slower changes would not show");
  }
  if (draft.guess()) {
    draft.say(*draft.guess());
    return;
  }
  const bool from_kernel = verdict == Verdict::healthy || verdict == Verdict::file_cache;
  if (draft.trends.live.slope) {
    std::vector<std::string> doubts = doubts_of(draft);
    draft.found.confidence = is_short || !doubts.empty() ? Confidence::medium : Confidence::high;
    for (std::string& doubt : doubts)
      draft.say(std::move(doubt));
  } else if (from_kernel && !is_short) {
    draft.found.confidence = Confidence::medium;
  }
}

}  // namespace ebb::keep
