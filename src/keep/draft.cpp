// SPDX-License-Identifier: Apache-2.0
#include "keep/draft.h"

#include "keep/level.h"

namespace ebb::keep {

// Interpreters, pools and caches of a job fill up for minutes: growth that has not lasted as long
// is a verdict only where it is clear.
static constexpr double kWarmUp = 300;

void Draft::decide(fact::Verdict verdict, const trend::Assessment* growth, std::string headline,
                   fact::FixKind fix_kind, std::string fix) {
  if (decided_) {
    found.also.push_back(verdict);
    found.findings.push_back(std::move(headline));
    return;
  }
  decided_ = true;
  growth_ = growth;
  found.verdict = verdict;
  found.pace = growth != nullptr ? growth->slope->per_second : 0;
  found.grown = growth != nullptr ? growth->growth() : 0;
  found.headline = std::move(headline);
  found.fix.kind = fix_kind;
  found.fix.text = std::move(fix);
}

bool Draft::grows_for_good(const trend::Assessment& part, const char* what, const char* called) {
  if (!grows(part)) return false;
  if (!may_be_warm_up(part)) return true;
  say(std::string(what) + " grew by " + bytes_of(part.growth()) +
      " so far, which may be a warm-up: too early to call it " + called);
  return false;
}

bool may_be_warm_up(const trend::Assessment& part) {
  return part.span_seconds < kWarmUp && !grows(part, kClearGrowth);
}

}  // namespace ebb::keep
