// SPDX-License-Identifier: Apache-2.0
#include "serve/plan_page.h"

#include <utility>

#include "page/document.h"
#include "show/plan_page.h"

namespace ebb::serve {
namespace {

constexpr const char* kTitle = "Plan";

struct Planned {
  base::Json json;
  page::Document page;
};

template <class Request>
base::Result<Planned> planned(const Request& request, std::optional<std::uint64_t> cap,
                              const plan::Stops& stops) {
  if (!cap) {
    const auto plan = plan::plan(request);
    if (!plan) return plan.error();
    return Planned{to_json(*plan), show::page_of_plan(*plan, {})};
  }
  const auto fit = plan::fit(request, *cap, stops);
  if (!fit) return fit.error();
  return Planned{plan_json(*fit), show::page_of_plan(fit->plan, show::beside_plan(*fit))};
}

std::string said_of(const page::Verdict& verdict) {
  if (verdict.tone == page::Tone::neutral) return verdict.headline;
  return verdict.name + ": " + verdict.headline;
}

MadePage made_page(page::Document document, page::Form form) {
  document.form = std::move(form);
  document.up = "All runs";
  document.up_is_here = true;
  return {kTitle, page::to_json(document).text(), "", true};
}

}  // namespace

base::Result<MadePlan> make_plan(const PlanForm& form, const PlanRequest& request,
                                 const plan::Stops& stops) {
  auto made =
      std::visit([&](const auto& step) { return planned(step, request.cap, stops); }, request.step);
  if (!made) return made.error();
  page::Form shown = form.shown();
  shown.command = form.command();
  if (made->page.verdict) shown.said = said_of(*made->page.verdict);
  return MadePlan{made_page(std::move(made->page), std::move(shown)), made->json.text(true) + "\n"};
}

MadePage failed_plan(const PlanForm& form, const std::string& line) {
  page::Document document;
  document.title = kTitle;
  page::Form shown = form.shown();
  shown.said = line;
  shown.failed = true;
  return made_page(std::move(document), std::move(shown));
}

}  // namespace ebb::serve
