// SPDX-License-Identifier: Apache-2.0
#include "story/family_story.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "trend/assessment.h"

namespace ebb::story {
namespace {

using base::bytes_text;
using base::duration_text;
using base::format_text;
using fact::Confidence;
using fact::Verdict;

// From so many comparable readings on it is sure.
constexpr std::size_t kSureReadings = 3;
// Whose own memory grew by less than this share of all copies had no part in it.
constexpr double kLeastPart = 0.1;

constexpr const char* kArrays =
    "Keep what workers only read in arrays (NumPy, torch tensors), not in lists or dicts of "
    "objects, whose reference counts lie in the same pages; gc.freeze() before the fork spares "
    "what only the garbage collector would touch; workers started by spawn or forkserver share "
    "nothing to begin with";

bool takes_part(const Copying& family, const CopyingProcess& process) {
  return process.uss_after > process.uss_before &&
         static_cast<double>(process.uss_after - process.uss_before) >=
             kLeastPart * static_cast<double>(family.copied);
}

std::vector<std::string> findings_of(const Copying& family) {
  std::string copies = format_text(
      "%zu processes that share pages since a fork copied at least %s of them in %s, "
      "from %s after the start on",
      family.processes.size(), bytes_text(family.copied).c_str(),
      duration_text(family.until - family.since).c_str(), duration_text(family.since).c_str());
  if (family.levels_off()) {
    copies +=
        "; it levels off: " + bytes_text(family.copied_late) + " in the last third of the time";
  } else if (family.goes_on()) {
    copies += ", and it goes on";
  }
  std::vector<std::string> findings{std::move(copies),
                                    "together they went from " + bytes_text(family.held_before) +
                                        " to " + bytes_text(family.held_after) +
                                        " of anonymous memory, each page counted once",
                                    "sharing still saves " + bytes_text(family.still_shared) +
                                        ": further copies take at most that much"};
  if (family.times > 1) {
    findings.push_back(
        format_text("workers were forked again: %zu sets of them copied that way", family.times));
  }
  return findings;
}

void judge(const Copying& family, const CopyingProcess& process, ProcessStory& story) {
  keep::ProcessDiagnosis& found = story.diagnosis;
  const std::string headline =
      "pages that it shared since the fork became its own: private memory "
      "grew from " +
      bytes_text(process.uss_before) + " to " + bytes_text(process.uss_after) + " (copy-on-write)";
  if (found.verdict != Verdict::healthy && found.verdict != Verdict::not_enough_data &&
      found.verdict != Verdict::file_cache) {
    found.also.push_back(Verdict::copy_on_write);
    found.findings.push_back(headline);
    return;
  }
  if (found.verdict == Verdict::file_cache) found.also.push_back(Verdict::file_cache);
  if (found.verdict == Verdict::healthy)
    found.findings.insert(found.findings.begin(), "what it holds in all does not grow");
  found.verdict = Verdict::copy_on_write;
  found.confidence = family.readings >= kSureReadings ? Confidence::high : Confidence::medium;
  found.headline = headline;
  found.pace = 0;  // it ends by itself: a slow leak beside it is the worse of the two
  found.grown = static_cast<double>(process.uss_after - process.uss_before);
  const std::vector<std::string> findings = findings_of(family);
  found.findings.insert(found.findings.begin(), findings.begin(), findings.end());
  found.fix = {fact::FixKind::code, kArrays, std::nullopt, 0};
}

}  // namespace

void judge_copying(const std::vector<Copying>& families, std::vector<ProcessStory>& processes) {
  for (const Copying& family : families) {
    if (!family.matters()) continue;
    // What the others copied is the parent's alone in the end, without a copy of its own.
    const bool workers_copy = std::any_of(
        family.processes.begin(), family.processes.end(),
        [&](const CopyingProcess& one) { return !one.is_root && takes_part(family, one); });
    for (const CopyingProcess& one : family.processes) {
      if (!takes_part(family, one) || (one.is_root && workers_copy)) continue;
      for (ProcessStory& story : processes)
        if (story.index == one.index) judge(family, one, story);
    }
  }
}

base::Json copying_json(const record::RecordedRun& run, const std::vector<Copying>& families) {
  if (families.empty()) return {};
  const Copying& most = families.front();
  base::Json processes = base::Json::array();
  for (const CopyingProcess& one : most.processes) {
    processes.push(base::Json::object({{"pid", std::int64_t{run.processes[one.index].process.pid}},
                                       {"forked_the_others", one.is_root},
                                       {"private_before_bytes", one.uss_before},
                                       {"private_after_bytes", one.uss_after}}));
  }
  base::Json levels_off;
  if (most.readings_late > 0) levels_off = most.levels_off();
  return base::Json::object({{"copied_bytes", most.copied},
                             {"still_shared_bytes", most.still_shared},
                             {"held_before_bytes", most.held_before},
                             {"held_after_bytes", most.held_after},
                             {"since_seconds", most.since},
                             {"until_seconds", most.until},
                             {"levels_off", std::move(levels_off)},
                             {"readings", std::uint64_t{most.readings}},
                             {"times", std::uint64_t{most.times}},
                             {"processes", std::move(processes)}});
}

void tell_tree(RunStory& story) {
  const TreeSeries& tree = story.tree;
  base::Json last_pss;
  if (!tree.pss.empty() && story.processes.size() > 1) {
    const auto highest = [](const std::vector<trend::Point>& points) {
      double most = 0;
      for (const trend::Point& point : points)
        most = std::max(most, point.value);
      return bytes_text(static_cast<std::uint64_t>(most));
    };
    last_pss = static_cast<std::uint64_t>(tree.pss.back().value);
    const std::string pss = tree.pss_readings > 1
                                ? format_text("pss at most %s in %zu readings",
                                              highest(tree.pss).c_str(), tree.pss_readings)
                                : "pss " + highest(tree.pss) + " when it was read, once";
    story.diagnosis.findings.push_back(
        format_text("%zu processes together: %s (rss %s, which counts shared pages in each of "
                    "them)",
                    story.processes.size(), pss.c_str(), highest(tree.rss).c_str()));
    const trend::Assessment pss_trend = trend::assess(tree.pss);
    if (!story.culprit && grows(pss_trend)) {
      story.diagnosis.findings.push_back(
          "their pss grows by " +
          base::signed_bytes_text(static_cast<std::int64_t>(pss_trend.slope->per_second * 3600)) +
          "/h: pages that were shared since the fork become private");
    }
  }
  story.diagnosis.evidence.set("tree_pss_bytes", last_pss);
}

}  // namespace ebb::story
