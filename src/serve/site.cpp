// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include <algorithm>

#include "base/text.h"
#include "page/render.h"
#include "record/place.h"
#include "serve/metrics_page.h"
#include "story/run_story.h"

namespace ebb::serve {
namespace {

// Of a page as it is first shown: what is live then asks for what fits on its screen.
constexpr std::size_t kFirstPoints = 8000;
constexpr std::string_view kRuns = "runs/";
constexpr std::string_view kCompared = "compare-";
constexpr std::string_view kEvents = "events";
constexpr std::string_view kDocument = "document";

Answer json_answer(std::string json) {
  return {200, "application/json", std::move(json)};
}

Answer no_such_page() {
  return refusal(404, "nothing here; expected /, /runs/NUMBER, /runs/compare-NUMBER or /metrics");
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

}  // namespace

Answer Site::answer(const Request& request) {
  if (auto refused = guard_.check(request, base_)) return *std::move(refused);
  if (request.path + "/" == base_) {
    Answer moved = refusal(303, "see " + base_);
    moved.headers = {{"Location", base_}};
    return moved;
  }
  // A proxy may strip the base or leave it.
  std::string path = request.path;
  path.erase(0, path.starts_with(base_) ? base_.size() : 1);
  if (path == "metrics") return metrics_page(collector_, request);
  if (path.empty() || path == kEvents || path == kDocument) return page("runs", path, request);
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
  const bool live = (*made)->live;
  Answer html{200, "text/html; charset=utf-8", page::render((*made)->title, (*made)->json, live)};
  html.headers = {{"Content-Security-Policy",
                   page::content_security_policy(live) + "; frame-ancestors 'none'"}};
  return html;
}

}  // namespace ebb::serve
