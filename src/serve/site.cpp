// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include <algorithm>

#include "base/text.h"
#include "record/place.h"
#include "serve/metrics_page.h"
#include "serve/query.h"
#include "story/run_story.h"

namespace ebb::serve {
namespace {

// Of a page as it is first shown: what is live then asks for what fits on its screen.
constexpr std::size_t kFirstPoints = 8000;
constexpr std::string_view kRuns = "runs/";
constexpr std::string_view kCompared = "compare-";
constexpr std::string_view kSnapshots = "snapshots";
constexpr std::string_view kSnapshot = Snapshots::kFolder;
constexpr std::string_view kEvents = "events";
constexpr std::string_view kDocument = "document";
constexpr std::string_view kStop = "stop";
constexpr std::string_view kJson = "json";

Answer no_such_page() {
  return refusal(404,
                 "nothing here; expected /, /runs/NUMBER, /runs/compare-NUMBER, /snapshots/KEY, "
                 "/plan or /metrics");
}

/// `runs`: their numbers, as they were asked for.
Answer refusal_of(const base::Error& error, const std::string& runs) {
  if (error.code == base::Code::not_found) {
    const bool is_compared = runs.starts_with(kCompared);
    const std::string numbers = is_compared ? runs.substr(kCompared.size()) : runs;
    return refusal(404, (is_compared ? "no simulation " : "no run ") + numbers + " in the record");
  }
  return refusal(503, "the record cannot be read");
}

/// "points=N" of a query.
std::optional<std::size_t> points_of(const std::string& query) {
  constexpr std::string_view kPoints = "points=";
  for (const std::string_view part : base::split(query, '&'))
    if (part.starts_with(kPoints)) return base::parse_unsigned(part.substr(kPoints.size()));
  return std::nullopt;
}

/// What is before the first '/', and behind it.
std::pair<std::string, std::string> split_at_slash(const std::string& path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {path, ""};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Answer no_such_snapshot() {
  return refusal(404, "no such snapshot; what is uploaded is kept while somebody looks at it");
}

}  // namespace

base::Status Site::show_snapshots(const std::vector<std::string>& paths) {
  const auto begun = snapshots_.begin(paths);
  set_links();
  return begun;
}

void Site::set_links() {
  std::vector<page::Link> links = snapshots_.links();
  links.insert(links.begin(), {"Plan a training step", std::string(Plans::kFolder)});
  pages_.set_links(std::move(links));
}

std::string Site::below_base(const Request& request) const {
  std::string path = request.path;
  path.erase(0, path.starts_with(base_) ? base_.size() : 1);
  return path;
}

std::vector<Event> Site::news(const std::vector<std::string>& topics) {
  std::vector<std::string> pages;
  std::vector<std::string> snapshots;
  for (const std::string& topic : topics)
    (topic.starts_with(kSnapshot) ? snapshots : pages).push_back(topic);
  std::vector<Event> events = pages_.news(pages);
  for (Event& event : snapshots_.news(snapshots))
    events.push_back(std::move(event));
  return events;
}

Answer Site::post(const Request& request) {
  if (auto refused = guard_.check(request, base_)) return *std::move(refused);
  const std::string path = below_base(request);
  if (path == kSnapshots) return snapshots_.upload(value_of(read_query(request.query), "name"));
  if (path.starts_with(kSnapshot)) {
    const auto [key, what] = split_at_slash(path.substr(kSnapshot.size()));
    if (what == kStop)
      return snapshots_.stop(key) ? refusal(200, "it is told to stop") : no_such_snapshot();
  }
  Answer refused = refusal(405, "expected GET or HEAD");
  refused.headers.emplace_back("Allow", "GET, HEAD");
  return refused;
}

Answer Site::snapshot(const std::string& name, std::string_view what) {
  if (what == kEvents) {
    const auto state = snapshots_.state(name);
    return state ? stream_of({std::string(kSnapshot) + name, *state}) : no_such_snapshot();
  }
  if (!what.empty() && what != kDocument) return no_such_page();
  const auto page = snapshots_.page(name);
  if (!page) return no_such_snapshot();
  return what.empty() ? html_of(*page) : json_answer(page->json);
}

Answer Site::plan(std::string_view what, const std::string& query) {
  if (what.empty()) return plans_.answer(Plans::View::page, query);
  if (what == kDocument) return plans_.answer(Plans::View::document, query);
  if (what == kJson) return plans_.answer(Plans::View::json, query);
  return no_such_page();
}

Answer Site::answer(const Request& request) {
  if (auto refused = guard_.check(request, base_)) return *std::move(refused);
  if (request.path + "/" == base_) {
    Answer moved = refusal(303, "see " + base_);
    moved.headers = {{"Location", base_}};
    return moved;
  }
  const std::string path = below_base(request);
  if (path == "metrics") return metrics_page(collector_, request);
  if (path.empty() || path == kEvents || path == kDocument) return page("runs", path, request);
  if (path.starts_with(kSnapshot)) {
    const auto [name, what] = split_at_slash(path.substr(kSnapshot.size()));
    return snapshot(name, what);
  }
  if (path == Plans::kFolder) return plan("", request.query);
  if (const auto [first, what] = split_at_slash(path); first == Plans::kFolder && !what.empty())
    return plan(what, request.query);
  if (!path.starts_with(kRuns)) return no_such_page();
  const std::size_t slash = path.find('/', kRuns.size());
  const std::string name = path.substr(0, slash);
  const std::string what = slash == std::string::npos ? "" : path.substr(slash + 1);
  if (path == "runs/json") return list_json();
  if (what == "json") return run_json(name.substr(kRuns.size()));
  if (slash != std::string::npos && what != kEvents && what != kDocument) return no_such_page();
  return page(name, what, request);
}

Answer Site::list_json() const {
  const auto runs = record::list_runs(record_, true);
  if (!runs) return refusal(503, "the record cannot be read");
  return json_answer(story::runs_json(record_, *runs).text(true) + "\n");
}

Answer Site::run_json(const std::string& number) const {
  if (!base::parse_unsigned(number)) return no_such_page();
  const auto run = record::read_run(number, record_);
  if (!run) return refusal_of(run.error(), number);
  return json_answer(story::report_json(*run, story::story_of(*run)).text(true) + "\n");
}

Answer Site::page(const std::string& name, std::string_view what, const Request& request) {
  const std::string numbers = name.substr(std::min(name.size(), kRuns.size()));
  if (what == kEvents) {
    const auto revision = pages_.revision_of(name);
    if (!revision) return refusal_of(revision.error(), numbers);
    return stream_of({name, *revision});
  }
  const bool is_page = what.empty();
  const auto made = pages_.get(name, points_of(request.query).value_or(kFirstPoints));
  if (!made) return refusal_of(made.error(), numbers);
  if (!is_page) return json_answer((*made)->json);
  return html_of(**made);
}

}  // namespace ebb::serve
