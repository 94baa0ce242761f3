// SPDX-License-Identifier: Apache-2.0
#include "serve/run_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "record/place.h"
#include "story/run_story.h"

namespace ebb::serve {
namespace {

constexpr double kReadSeconds = 5;
// Reading takes a tenth of the time at the most.
constexpr std::int64_t kIdleTimes = 9;
// Between two verdicts on a run that goes on, and their share of the time.
constexpr double kJudgeAgainSeconds = 15;
constexpr double kJudgeShare = 0.02;

std::int64_t nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

}  // namespace

RunList::Stamp RunList::stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_size,
          std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

base::Status RunList::refresh(double seconds) {
  const std::int64_t now = clock_->now_ns();
  if (was_read_ && (now < idle_until_ns_ || base::seconds_between(looked_ns_, now) < seconds))
    return {};
  looked_ns_ = now;
  const std::array stamps = {stamp_of(record_), stamp_of(record_ + "-wal")};
  if (was_read_ && stamps == stamps_ && now < next_read_ns_) return {};
  auto found = record::list_runs(record_, true);
  if (!found) return found.error();
  runs_ = *std::move(found);
  stamps_ = stamps;
  revision_.clear();
  std::set<std::int64_t> there;
  for (const record::RunSummary& run : runs_)
    there.insert(run.run.id);
  std::erase_if(judged_, [&](const auto& entry) { return !there.contains(entry.first); });
  const std::int64_t done = clock_->now_ns();
  next_read_ns_ = done + nanoseconds(kReadSeconds);
  idle_until_ns_ = done + (done - now) * kIdleTimes;
  was_read_ = true;
  return {};
}

const record::RunSummary* RunList::find(std::int64_t id) const {
  const auto found = std::find_if(runs_.begin(), runs_.end(),
                                  [id](const auto& summary) { return summary.run.id == id; });
  return found == runs_.end() ? nullptr : &*found;
}

std::string RunList::state_of(const record::RunSummary& run) {
  std::string state = record::name_of(run.state) + base::format_text(" %.3f", run.seconds);
  for (const std::uint64_t number :
       {static_cast<std::uint64_t>(run.run.id), run.samples, run.rounds, run.peak_rss,
        run.peak_process_rss, run.processes, run.lost, static_cast<std::uint64_t>(run.detail)})
    state += " " + std::to_string(number);
  return state;
}

void RunList::judge(double seconds) {
  const std::int64_t end = clock_->now_ns() + nanoseconds(seconds);
  auto store = record::Store::open(record_);
  if (!store) return;
  for (const record::RunSummary& run : runs_) {
    const std::int64_t start = clock_->now_ns();
    if (start >= end) return;
    std::string state = state_of(run);
    const auto known = judged_.find(run.run.id);
    if (known != judged_.end() && (known->second.state == state || start < known->second.next_ns))
      continue;
    const auto whole = store->read(run.run.id);
    if (!whole) continue;  // removed since
    const fact::Verdict verdict = story::story_of(*whole).diagnosis.verdict;
    const std::int64_t done = clock_->now_ns();
    const double pause =
        std::max(kJudgeAgainSeconds, base::seconds_between(start, done) / kJudgeShare);
    judged_[run.run.id] = {verdict, std::move(state), done + nanoseconds(pause)};
    revision_.clear();
  }
}

const std::string& RunList::revision() {
  if (!revision_.empty()) return revision_;
  std::string states;
  for (const record::RunSummary& run : runs_)
    states += state_of(run) + "\n";
  for (const auto& [id, judged] : judged_)
    states += std::to_string(id) + fact::name_of(judged.verdict) + "\n";
  return revision_ = digest(states);
}

std::string digest(const std::string& text) {
  return base::format_text("%zx", std::hash<std::string>{}(text));
}

std::map<std::int64_t, fact::Verdict> RunList::verdicts() const {
  std::map<std::int64_t, fact::Verdict> found;
  for (const auto& [id, judged] : judged_)
    found.emplace(id, judged.verdict);
  return found;
}

}  // namespace ebb::serve
