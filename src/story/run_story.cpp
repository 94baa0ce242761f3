// SPDX-License-Identifier: Apache-2.0
#include "story/run_story.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "story/culprit.h"
#include "story/family_story.h"
#include "story/last_memory.h"
#include "story/process_ledger.h"
#include "story/together.h"

namespace ebb::story {
namespace {

using base::bytes_text;
using base::format_text;
using fact::Confidence;
using fact::FixKind;
using fact::Verdict;

constexpr std::size_t kMostJudged = 32;

std::uint64_t steady_rss_of(const std::vector<record::Reading>& readings) {
  if (readings.empty()) return 0;
  const double half = (readings.front().seconds + readings.back().until) / 2;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;
  std::uint64_t total = 0;
  for (const record::Reading& reading : readings) {
    if (reading.middle() < half || !reading.rss) continue;
    values.emplace_back(reading.rss->mean, reading.count);
    total += reading.count;
  }
  std::sort(values.begin(), values.end());
  std::uint64_t below = 0;
  for (const auto& [rss, count] : values) {
    below += count;
    if (2 * below >= total) return rss;
  }
  return 0;
}

ProcessStory process_story(const record::RecordedRun& run, std::size_t index) {
  const record::ProcessHistory& history = run.processes[index];
  ProcessStory story;
  story.index = index;
  story.process = history.process;
  story.peak_rss = seen(history.process.peak_rss.value_or(0));
  for (const record::Reading& reading : history.readings) {
    if (reading.rss) story.peak_rss = std::max(story.peak_rss.value_or(0), reading.rss->high);
    story.samples += reading.count;
    if (reading.live) story.live = reading.live->mean;
    if (reading.retained) story.retained = reading.retained->mean;
  }
  story.private_allocators = private_allocators_of(run, history.process.key());
  story.ledger =
      ledger_of(history, story.private_allocators, mapped_of(run, history.process.key()));
  story.steady_rss = seen(steady_rss_of(history.readings));
  story.cleanups = cleanups_of(run, history.process.key());
  story.rounds = static_cast<std::uint64_t>(std::count_if(
      run.rounds.begin(), run.rounds.end(),
      [&](const record::Round& round) { return round.process == history.process.key(); }));
  return story;
}

std::optional<std::uint64_t> room_of(const record::RecordedRun& run) {
  if (run.place.empty()) return std::nullopt;
  const record::PlaceSample& last = run.place.back().now;
  return last.limit > last.used ? last.limit - last.used : 0;
}

class Teller {
 public:
  explicit Teller(const record::RecordedRun& run) : run_(run) {}

  RunStory tell() {
    story_.labels = labels_of(run_.processes, run_.events);
    for (std::size_t i = 0; i < run_.processes.size(); ++i) {
      story_.processes.push_back(process_story(run_, i));
      story_.processes.back().name = story_.labels[i].name;
    }
    std::stable_sort(
        story_.processes.begin(), story_.processes.end(),
        [](const ProcessStory& a, const ProcessStory& b) { return a.peak_rss > b.peak_rss; });
    judge_processes();
    const std::vector<Copying> copying = copying_in(run_);
    judge_copying(copying, story_.processes);
    story_.tree = tree_of(run_);
    story_.cleanups = cleanups_of(run_, std::nullopt);
    if (run_.summary.seconds > 0)
      story_.cleanup_share = story_.cleanups.cost_seconds / run_.summary.seconds;
    story_.culprit = find_culprit(story_.processes);
    if (story_.culprit) {
      story_.diagnosis = story_.processes[*story_.culprit].diagnosis;
    } else if (!story_.processes.empty()) {
      story_.diagnosis = story_.processes.front().diagnosis;
    } else {
      story_.diagnosis = keep::diagnose({});
    }
    judge_together(story_, run_.summary.seconds);
    tell_others();
    tell_sites();
    tell_tree(story_);
    story_.diagnosis.evidence.set("copy_on_write", copying_json(run_, copying));
    tell_cleanups();
    if (was_killed()) story_.memory = last_memory_of(run_, story_.labels, copying, story_.sites);
    tell_ending();
    return std::move(story_);
  }

 private:
  void judge_processes() {
    const std::optional<std::uint64_t> room = room_of(run_);
    for (std::size_t i = 0; i < story_.processes.size(); ++i) {
      ProcessStory& one = story_.processes[i];
      if (i >= kMostJudged) {
        one.diagnosis.headline = "not judged: others are larger";
        continue;
      }
      const record::ProcessHistory& history = run_.processes[one.index];
      ProcessSeries series = series_of(run_, history);
      const std::optional<double> silent = silent_since(run_, history);
      if (silent) series.forget_heap();
      one.diagnosis = keep::diagnose(series.view(room));
      if (silent) {
        const double end = history.process.ended.value_or(run_.summary.seconds);
        tell_silence(one, std::max(end - *silent, 0.0));
        one.ledger = ledger_without_heap(history, mapped_of(run_, history.process.key()));
      }
    }
  }

  /// From outside growth looks like a leak, whatever it is: not where the agent should know better.
  static void tell_silence(ProcessStory& one, double seconds) {
    keep::ProcessDiagnosis& found = one.diagnosis;
    const std::string silence =
        "its agent did not answer for the last " + base::duration_text(seconds);
    if (is_growth(found.verdict)) {
      found.verdict = Verdict::not_enough_data;
      found.confidence = Confidence::low;
      found.headline = "it grows, and " + silence + ": what grows cannot be told";
      found.fix = {FixKind::probe,
                   format_text("While it runs, see where its thread ebb-agent waits: gdb -p %d "
                               "-batch -ex 'thread apply all bt'",
                               one.process.pid),
                   std::nullopt, 0};
    } else {
      found.findings.push_back(silence);
    }
    if (one.live || one.retained) {
      found.findings.push_back("last known before that: live " + known(one.live) + ", retained " +
                               known(one.retained));
    }
    one.live.reset();
    one.retained.reset();
  }

  static std::string known(const std::optional<std::uint64_t>& bytes) {
    return bytes ? bytes_text(*bytes) : "unknown";
  }

  void tell_others() {
    keep::ProcessDiagnosis& found = story_.diagnosis;
    if (story_.culprit) {
      const ProcessStory& culprit = story_.processes[*story_.culprit];
      if (story_.processes.size() > 1)
        found.headline = "process " + name_of(culprit) + ": " + found.headline;
      found.evidence.set("pid", std::int64_t{culprit.process.pid});
    }
    std::size_t same = 0;
    for (std::size_t i = 0; i < story_.processes.size(); ++i) {
      const keep::ProcessDiagnosis& other = story_.processes[i].diagnosis;
      if (story_.culprit == i || !is_growth(other.verdict)) continue;
      if (other.verdict == found.verdict) {
        ++same;
        continue;
      }
      if (std::find(found.also.begin(), found.also.end(), other.verdict) == found.also.end())
        found.also.push_back(other.verdict);
      found.findings.push_back("process " + name_of(story_.processes[i]) + ": " +
                               fact::name_of(other.verdict) + ", " + other.headline);
    }
    if (same > 0) {
      found.findings.push_back(format_text("the same holds for %zu more of the %zu processes", same,
                                           story_.processes.size()));
    }
  }

  /// A leak has a place in the code, where allocations were sampled.
  void tell_sites() {
    story_.sites = sites_of(run_);
    keep::ProcessDiagnosis& found = story_.diagnosis;
    if (!story_.culprit || (found.verdict != Verdict::leak && found.verdict != Verdict::foreign))
      return;
    const record::ProcessKey culprit = story_.processes[*story_.culprit].process.key();
    const std::optional<GrowingPlace> place = story_.sites.growing_place(culprit);
    if (!place) return;
    found.headline += format_text(
        "; %s/min at %s, %.0f %% of the growth",
        base::signed_bytes_text(static_cast<std::int64_t>(place->per_second * 60)).c_str(),
        place->text.c_str(), 100 * place->share);
    found.fix = {FixKind::code, "Look at what " + place->text + " allocates and nothing frees",
                 std::nullopt, 0};
  }

  void tell_cleanups() {
    const keep::CleanupSum& sum = story_.cleanups;
    if (sum.count > 0) {
      story_.diagnosis.findings.push_back(format_text(
          "%llu cleanup%s returned %s in all, for %.2f %% of the time",
          static_cast<unsigned long long>(sum.count), sum.count == 1 ? "" : "s",
          fact::returned_text(sum.returned, sum.devices).c_str(), 100 * story_.cleanup_share));
    }
    story_.diagnosis.evidence.set("cleanups",
                                  base::Json::object({{"count", sum.count},
                                                      {"returned_bytes", sum.returned},
                                                      {"devices", fact::devices_json(sum.devices)},
                                                      {"cost_seconds", sum.cost_seconds},
                                                      {"share_of_time", story_.cleanup_share}}));
  }

  /// By whomever, and not for what it did itself.
  bool was_killed() const {
    const record::Run& run = run_.summary.run;
    const bool for_memory =
        run.ending == fact::RunEnd::out_of_memory || run.ending == fact::RunEnd::stopped;
    return for_memory || run.death || run_.summary.state == record::State::lost;
  }

  void tell_ending() {
    story_.ending = ending_of(run_.summary);
    keep::ProcessDiagnosis& found = story_.diagnosis;
    const fact::RunEnd how = run_.summary.run.ending;
    const bool for_memory = how == fact::RunEnd::out_of_memory || how == fact::RunEnd::stopped;
    if (for_memory && !is_growth(found.verdict)) {
      found.verdict = Verdict::not_enough_data;
      found.confidence = Confidence::low;
      const Peak peak = peak_of(run_.summary);
      found.headline = "it ran out of memory before a trend could be seen: peak " +
                       (peak.bytes ? text_of(peak) : "not known") +
                       (run_.summary.run.limit > 0 ? ", limit " + bytes_text(run_.summary.run.limit)
                                                   : std::string());
      found.fix = {FixKind::limit, "Give it more memory, or less to do at once", std::nullopt, 0};
      if (story_.memory && !story_.memory->fix.text.empty()) found.fix = story_.memory->fix;
    }
    if (!story_.ending.bad) return;
    std::vector<std::string> first{story_.ending.text};
    if (const auto& death = run_.summary.run.death)
      first.insert(first.end(), death->findings.begin(), death->findings.end());
    found.findings.insert(found.findings.begin(), first.begin(), first.end());
  }

  const record::RecordedRun& run_;
  RunStory story_;
};

}  // namespace

RunStory story_of(const record::RecordedRun& run) {
  return Teller(run).tell();
}

}  // namespace ebb::story
