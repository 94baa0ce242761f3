// SPDX-License-Identifier: Apache-2.0
#include "serve/pages.h"

#include <algorithm>

#include "base/text.h"
#include "page/thin.h"
#include "record/place.h"
#include "serve/server.h"
#include "show/report_page.h"
#include "show/runs_view.h"
#include "show/side_by_side.h"
#include "show/simulate/sweep_page.h"

namespace ebb::serve {
namespace {

constexpr const char* kList = "runs";
constexpr std::string_view kRun = "runs/";
constexpr std::string_view kCompare = "compare-";
constexpr std::size_t kMostSideBySide = 8;
// Between two simulations of a sweep.
constexpr double kBetweenSeconds = 30;
// How many points lines may have: few sizes, so that many who look share a page.
constexpr std::size_t kFewestPoints = 500;
constexpr std::size_t kMostPoints = 8000;
// A page that goes on changing is shown as it was a moment ago.
constexpr double kFreshSeconds = 2;
// The list that an answer rests on may be so old.
constexpr double kListSeconds = 0.2;
// After that nobody looks at it any more.
constexpr double kUnusedSeconds = 60;
constexpr double kJudgeSeconds = 0.01;
// News are made for so long at a time, since others wait meanwhile, and then not for three times as
// long as it took; of one page not more often.
constexpr double kNewsSeconds = 0.01;
constexpr double kNewsPause = 3;
constexpr double kToldSeconds = 1;
// That are kept as they were read, since of a sweep that goes on all but one have ended.
constexpr std::size_t kMostSimulations = 200;
constexpr std::uint64_t kMostUploaded = Bounds{}.body_bytes;
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20;

/// Different numbers, as a name lists them; none where it does not.
std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const std::string_view part : base::split(text, ',')) {
    const auto id = base::parse_unsigned(part);
    if (!id || *id > INT64_MAX || ids.size() == kMostSideBySide) return {};
    ids.push_back(static_cast<std::int64_t>(*id));
  }
  std::vector<std::int64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return {};
  return ids;
}

/// The next of its sweep may begin at any moment.
bool may_go_on(const record::RunSummary& run) {
  return run.run.ended && base::unix_seconds() - *run.run.ended < kBetweenSeconds;
}

std::size_t rounded(std::size_t points) {
  std::size_t found = kFewestPoints;
  while (found < points && found < kMostPoints)
    found *= 2;
  return found;
}

base::Error no_page(const std::string& name) {
  return base::error(base::Code::not_found, "there is no %s", name.c_str());
}

}  // namespace

base::Result<Pages::Shown> Pages::shown_by(const std::string& name) const {
  Shown shown;
  if (name == kList) {
    shown.live = true;
    return shown;
  }
  if (!name.starts_with(kRun)) return no_page(name);
  std::string_view rest = std::string_view(name).substr(kRun.size());
  shown.kind = rest.starts_with(kCompare) ? Shown::Kind::simulations : Shown::Kind::runs;
  if (shown.kind == Shown::Kind::simulations) rest.remove_prefix(kCompare.size());
  for (const std::int64_t id : numbers_of(rest)) {
    const record::RunSummary* run = runs_.find(id);
    if (run == nullptr) return no_page(name);
    if (shown.kind == Shown::Kind::simulations && run->sweep.empty()) return no_page(name);
    shown.runs.push_back(run);
  }
  if (shown.runs.empty()) return no_page(name);
  const bool is_sweep = shown.kind == Shown::Kind::simulations && shown.runs.size() == 1;
  if (is_sweep) {
    const std::string& sweep = shown.runs.front()->sweep;
    shown.runs.clear();
    for (const record::RunSummary& run : runs_.runs())
      if (run.sweep == sweep) shown.runs.push_back(&run);
    std::reverse(shown.runs.begin(), shown.runs.end());  // the first one first
    const record::RunSummary& newest = *shown.runs.back();
    shown.live = shown.runs.size() < newest.sweep_parts && may_go_on(newest);
  }
  for (const record::RunSummary* run : shown.runs)
    shown.live = shown.live || run->state == record::State::running;
  return shown;
}

base::Result<std::string> Pages::revision_of(const std::string& name) {
  if (const auto read = runs_.refresh(kListSeconds); !read) return read.error();
  const auto shown = shown_by(name);
  if (!shown) return shown.error();
  if (shown->kind == Shown::Kind::list) return runs_.revision();
  std::string states = shown->live ? "live\n" : "over\n";
  for (const record::RunSummary* run : shown->runs)
    states += RunList::state_of(*run) + "\n";
  return digest(states);
}

base::Result<std::shared_ptr<const MadePage>> Pages::get(const std::string& name,
                                                         std::size_t points) {
  const auto revision = revision_of(name);
  if (!revision) return revision.error();
  const Key key{name, rounded(points)};
  const std::int64_t now = clock_->now_ns();
  const auto kept = kept_.find(key);
  if (kept != kept_.end()) {
    const MadePage& page = *kept->second.page;
    const bool fresh =
        page.live && base::seconds_between(kept->second.made_ns, now) < kFreshSeconds;
    kept->second.used_ns = now;
    if (page.revision == *revision || fresh) return kept->second.page;
  }
  return make(key, *revision);
}

base::Result<std::shared_ptr<const show::SimulatedRun>> Pages::simulation_of(
    record::Store& store, const record::RunSummary& run) {
  const std::string state = RunList::state_of(run);
  const auto kept = simulated_.find(run.run.id);
  if (kept != simulated_.end() && kept->second.first == state) return kept->second.second;
  const auto recorded = store.simulation(run.run.id);
  if (!recorded) return recorded.error();
  auto read = show::read_simulation(*recorded);
  if (simulated_.size() >= kMostSimulations) simulated_.clear();
  simulated_[run.run.id] = {state, read};
  return read;
}

base::Result<page::Document> Pages::document_of(const Shown& shown) {
  if (shown.kind == Shown::Kind::list) return show::runs_page(runs_.runs(), runs_.verdicts());
  auto store = record::Store::open(record_);
  if (!store) return store.error();
  if (shown.kind == Shown::Kind::simulations) {
    std::vector<std::shared_ptr<const show::SimulatedRun>> simulations;
    for (const record::RunSummary* run : shown.runs) {
      auto simulation = simulation_of(*store, *run);
      if (!simulation) return simulation.error();
      simulations.push_back(*std::move(simulation));
    }
    return show::page_of_sweep(simulations);
  }
  std::vector<show::ToldRun> told;
  for (const record::RunSummary* shown_run : shown.runs) {
    auto run = store->read(shown_run->run.id);
    if (!run) return run.error();
    told.push_back({*std::move(run), {}});
    told.back().story = story::story_of(told.back().run);
  }
  if (told.size() == 1) return show::page_of_run(told[0].run, told[0].story);
  return show::side_by_side_page(told);
}

/// A page of runs that all simulate something leads to what that came to.
std::vector<page::Link> Pages::links_of(const std::string& name, const Shown& shown) {
  const bool simulate = std::none_of(shown.runs.begin(), shown.runs.end(),
                                     [](const auto* run) { return run->sweep.empty(); });
  if (shown.kind != Shown::Kind::runs || !simulate) return {};
  return {{"What was simulated", std::string(kCompare) + name.substr(kRun.size())}};
}

base::Result<std::shared_ptr<const MadePage>> Pages::make(const Key& key,
                                                          const std::string& revision) {
  const std::string& name = key.first;
  const auto shown = shown_by(name);
  if (!shown) return shown.error();
  auto document = document_of(*shown);
  if (!document) return document.error();
  page::thin(*document, key.second);
  const bool is_list = shown->kind == Shown::Kind::list;
  const bool live = shown->live;
  if (is_list) {
    document->upload = page::Upload{"A memory snapshot of PyTorch",
                                    "What ran out of memory, or could hold less: drop the file "
                                    "anywhere on this page. It is looked at on the machine that "
                                    "serves this page, and not kept.",
                                    "snapshots", kMostUploaded};
  } else {
    document->up = "All runs";
  }
  document->links = is_list ? list_links_ : links_of(name, *shown);
  if (live) {
    // Seen from the page, whose address ends with the runs' numbers, or with '/'.
    const std::string beside = is_list ? "" : name.substr(kRun.size()) + "/";
    document->live = page::Live{beside + "events", beside + "document", revision};
  }
  auto made = std::make_shared<MadePage>();
  made->title = document->title;
  made->json = page::to_json(*document).text();
  made->revision = revision;
  made->live = live;
  const std::int64_t now = clock_->now_ns();
  kept_[key] = {made, now, now};
  forget_oldest();
  return std::shared_ptr<const MadePage>(std::move(made));
}

void Pages::forget_oldest() {
  std::size_t bytes = 0;
  for (const auto& [key, kept] : kept_)
    bytes += kept.page->json.size();
  while (bytes > kMostKeptBytes && kept_.size() > 1) {
    const auto oldest = std::min_element(
        kept_.begin(), kept_.end(),
        [](const auto& a, const auto& b) { return a.second.used_ns < b.second.used_ns; });
    bytes -= oldest->second.page->json.size();
    kept_.erase(oldest);
  }
}

void Pages::make_again(const std::string& name, const std::string& revision) {
  const std::int64_t now = clock_->now_ns();
  std::erase_if(kept_, [&](const auto& entry) {
    return entry.first.first == name &&
           base::seconds_between(entry.second.used_ns, now) > kUnusedSeconds;
  });
  std::map<Key, std::int64_t> used;
  for (const auto& [key, kept] : kept_)
    if (key.first == name && kept.page->revision != revision) used[key] = kept.used_ns;
  for (const auto& [key, used_ns] : used) {
    if (make(key, revision))
      kept_[key].used_ns = used_ns;
    else
      kept_.erase(key);
  }
}

std::vector<Event> Pages::news(const std::vector<std::string>& names) {
  std::erase_if(told_, [&](const auto& entry) {
    return std::find(names.begin(), names.end(), entry.first) == names.end();
  });
  const std::int64_t start = clock_->now_ns();
  if (start < next_news_ns_ || !runs_.refresh(0)) return {};
  if (std::find(names.begin(), names.end(), kList) != names.end()) runs_.judge(kJudgeSeconds);
  std::vector<std::string> waiting = names;
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](const auto& a, const auto& b) { return told_[a].at_ns < told_[b].at_ns; });
  std::vector<Event> events;
  std::int64_t now = start;
  for (const std::string& name : waiting) {
    if (base::seconds_between(start, now) > kNewsSeconds) break;
    const Told& before = told_[name];
    if (!before.revision.empty() && base::seconds_between(before.at_ns, now) < kToldSeconds)
      continue;
    const auto revision = revision_of(name);
    const std::string told = revision ? *revision : "gone";
    if (before.revision == told) continue;
    if (revision) make_again(name, *revision);
    now = clock_->now_ns();
    told_[name] = {told, now};
    events.push_back({name, told});
  }
  now = clock_->now_ns();
  next_news_ns_ = now + static_cast<std::int64_t>(static_cast<double>(now - start) * kNewsPause);
  return events;
}

}  // namespace ebb::serve
