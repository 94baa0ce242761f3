// SPDX-License-Identifier: Apache-2.0
#include "serve/site.h"

#include "base/text.h"
#include "page/render.h"
#include "record/place.h"
#include "serve/metrics_page.h"
#include "show/report_page.h"
#include "show/runs_view.h"

namespace ebb::serve {
namespace {

Answer page_answer(const page::Document& document) {
  Answer made{200, "text/html; charset=utf-8", page::render(document)};
  made.headers = {
      {"Content-Security-Policy", page::content_security_policy() + "; frame-ancestors 'none'"}};
  return made;
}

Answer json_answer(const base::Json& json) {
  return {200, "application/json", json.text(true) + "\n"};
}

Answer no_such_page() {
  return refusal(404, "nothing here; expected /, /runs/NUMBER or /metrics");
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
  if (path.empty()) return list(false);
  if (path == "metrics") return metrics_page(collector_, request);
  if (path == "runs/json") return list(true);
  constexpr std::string_view kRuns = "runs/";
  constexpr std::string_view kJson = "/json";
  if (!path.starts_with(kRuns)) return no_such_page();
  std::string number = path.substr(kRuns.size());
  const bool json = number.ends_with(kJson);
  if (json) number.resize(number.size() - kJson.size());
  if (!base::parse_unsigned(number)) return no_such_page();
  return one_run(number, json);
}

Answer Site::list(bool json) const {
  const auto runs = record::list_runs(record_, true);
  if (!runs) return refusal(503, "the record cannot be read");
  return json ? json_answer(story::runs_json(record_, *runs)) : page_answer(show::runs_page(*runs));
}

Answer Site::one_run(const std::string& number, bool json) const {
  const auto run = record::read_run(number, record_);
  if (!run && run.error().code == base::Code::not_found)
    return refusal(404, "no run " + number + " in the record");
  if (!run) return refusal(503, "the record cannot be read");
  const story::RunStory story = story::story_of(*run);
  if (json) return json_answer(story::report_json(*run, story));
  return page_answer(show::page_of_run(*run, story));
}

}  // namespace ebb::serve
