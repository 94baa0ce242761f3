// SPDX-License-Identifier: Apache-2.0
#include "story/together.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "trend/assessment.h"

namespace ebb::story {
namespace {

using fact::Verdict;

/// No process grows, but their number does: then what leaks is processes.
bool judge_number(RunStory& story) {
  const TreeSeries& tree = story.tree;
  const trend::Assessment held = trend::assess(tree.held);
  const trend::Assessment count = trend::assess(tree.processes);
  // In processes: one more over the whole time is no trend.
  const trend::Effect two{0.02, 2};
  if (!grows(held) || !grows(count, two)) return false;
  keep::ProcessDiagnosis& found = story.diagnosis;
  found.verdict = Verdict::leak;
  found.confidence = fact::Confidence::medium;
  found.pace = held.slope->per_second;
  found.headline = base::format_text(
      "no process grows, but there are ever more of them: %.0f at the end, and their memory grows "
      "by %s/h",
      tree.processes.back().value,
      base::signed_bytes_text(static_cast<std::int64_t>(held.slope->per_second * 3600)).c_str());
  found.fix = {fact::FixKind::code, "End processes that have done their work", std::nullopt, 0};
  return true;
}

/// What was held at most, moment by moment: while one worker takes another's place, the sum is
/// short of one.
std::vector<trend::Point> without_gaps(const std::vector<trend::Point>& sums) {
  const std::size_t least = trend::AssessOptions{}.least_samples;
  return trend::ceilings(sums, std::clamp<std::size_t>(sums.size() / 2, least, 64));
}

/// Workers that are replaced by others leave too little of each; their sum goes on. Where it grows,
/// it may be the work as well.
void judge_sum(RunStory& story, double seconds) {
  if (story.processes.size() < 2) return;
  const ProcessStory& largest = story.processes.front();
  const double lived = largest.process.ended.value_or(seconds) - largest.process.seconds;
  if (largest.diagnosis.verdict != Verdict::not_enough_data || lived > seconds / 2) return;
  const std::vector<trend::Point> rss = without_gaps(story.tree.rss);
  const std::vector<trend::Point> held = without_gaps(story.tree.held);
  keep::ProcessDiagnosis sum = keep::diagnose({.rss = rss, .anon = held});
  if (sum.verdict == Verdict::healthy) {
    sum.headline = "of all processes together: " + sum.headline;
    sum.findings.emplace_back("the largest processes came and went: each by itself is not judged");
    story.diagnosis = std::move(sum);
  } else if (sum.verdict == Verdict::not_enough_data) {
    story.diagnosis.headline =
        "no process was there for long enough to be judged; of all together: " + sum.headline;
  } else {
    story.diagnosis.headline =
        "no process was there for long enough to be judged; together they grow by " + sum.rss_slope;
  }
}

}  // namespace

void judge_together(RunStory& story, double seconds) {
  if (story.culprit || story.processes.empty()) return;
  if (!judge_number(story)) judge_sum(story, seconds);
}

}  // namespace ebb::story
