// SPDX-License-Identifier: Apache-2.0
#include "show/plan_page.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "show/page_parts.h"
#include "show/words.h"

namespace ebb::show {
namespace {

using base::bytes_text;
using base::Json;
using plan::Part;
using plan::Phase;

constexpr const char* kOther = "other";

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// A chart has eight colours: parts that belong together share one.
const char* group_of(Part part) {
  if (plan::is_activation(part) || part == Part::inputs) return "activations";
  return part == Part::slack ? kOther : plan::name_of(part);
}

void add(page::Bar& bar, const char* name, double bytes) {
  if (bytes <= 0) return;
  const auto same = std::find_if(bar.parts.begin(), bar.parts.end(),
                                 [&](const page::Part& part) { return part.name == name; });
  if (same != bar.parts.end()) {
    same->value += bytes;
  } else {
    bar.parts.push_back({name, bytes});
  }
}

/// What there was at one moment; its parts sum to the corrected bytes.
page::Bar bar_of(const char* name, const plan::Plan& plan, const plan::MemoryState& state,
                 std::uint64_t in_flight) {
  page::Bar bar;
  bar.name = name;
  const auto planned = static_cast<double>(state.allocated + in_flight);
  const auto total = static_cast<double>(plan.corrected(state.allocated + in_flight));
  const double share = total < planned ? total / planned : 1;
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    const Part part = static_cast<Part>(i);
    add(bar, group_of(part), share * static_cast<double>(state.parts[part]));
  }
  add(bar, "activations", share * static_cast<double>(in_flight));
  add(bar, kOther, total - planned);
  return bar;
}

void add_range(page::Bar& bar, const plan::Plan& plan) {
  double total = 0;
  for (const page::Part& part : bar.parts)
    total += part.value;
  const auto error = static_cast<double>(plan.error_bytes());
  bar.low = std::max(0.0, total - error);
  bar.high = total + error;
}

page::BarChart phases_of(const plan::Plan& plan, std::optional<std::uint64_t> cap) {
  page::BarChart chart;
  chart.title = "Memory by phase";
  chart.note = base::format_text(
      "What is allocated at the peak of each phase of a step, and what the process then takes on "
      "the device. Other: what blocks are larger than asked for, CUDA's context, cuBLAS%s. "
      "Whiskers: the error of the peak, ± %.0f %%.",
      plan.correction ? ", what a recording showed beyond the plan" : "", plan.error_percent);
  if (cap) chart.limit = page::Limit{"the device's memory", static_cast<double>(*cap)};
  chart.bars.push_back(bar_of("before", plan, plan.step.before, 0));
  for (std::size_t i = 0; i < plan::kPhases; ++i) {
    const Phase phase = static_cast<Phase>(i);
    chart.bars.push_back(
        bar_of(plan::name_of(phase), plan, plan.step.of(phase).peak, plan.in_flight));
    if (phase == plan.step.peak_phase()) add_range(chart.bars.back(), plan);
  }
  page::Bar device = bar_of("on the device", plan, plan.step.peak().peak, plan.in_flight);
  add(device, "free in the allocator", static_cast<double>(plan.reserved() - plan.peak()));
  add(device, kOther,
      static_cast<double>(plan.surroundings.workspaces + plan.surroundings.context));
  add_range(device, plan);
  chart.bars.push_back(std::move(device));
  return chart;
}

page::Table parts_of(const plan::Plan& plan) {
  using page::Unit;
  page::Table table;
  table.title = "What the bytes are for";
  table.note = "As planned: at the peak, and what the backward pass starts with.";
  table.columns = {column("part", Unit::text), column("at the peak", Unit::bytes, true),
                   column("after the forward pass", Unit::bytes)};
  for (std::size_t i = 0; i < plan::kParts; ++i) {
    const Part part = static_cast<Part>(i);
    const std::uint64_t at_peak = plan.step.peak().peak.parts[part];
    const std::uint64_t saved = plan.step.after_forward.parts[part];
    if (at_peak + saved > 0)
      table.rows.push_back({Json(spaced(plan::name_of(part))), Json(at_peak), Json(saved)});
  }
  if (plan.in_flight > 0)
    table.rows.push_back({Json("in flight"), Json(plan.in_flight), Json(plan.in_flight)});
  return table;
}

page::Table phase_table(const plan::Plan& plan) {
  using page::Unit;
  page::Table table;
  table.title = "Phases";
  table.columns = {column("phase", Unit::text), column("begins with", Unit::bytes),
                   column("peak", Unit::bytes, true), column("ends with", Unit::bytes),
                   column("at the peak runs", Unit::text)};
  for (std::size_t i = 0; i < plan::kPhases; ++i) {
    const Phase phase = static_cast<Phase>(i);
    const plan::PhaseReport& report = plan.step.of(phase);
    table.rows.push_back({Json(plan::name_of(phase)), Json(plan.corrected(report.begin)),
                          Json(plan.corrected(report.peak.allocated + plan.in_flight)),
                          Json(plan.corrected(report.end)), Json(spaced(report.peak_doing))});
  }
  table.highlight = static_cast<std::size_t>(plan.step.peak_phase());
  return table;
}

page::Table changes_of(const std::vector<plan::FittingChange>& changes) {
  using page::Unit;
  page::Table table;
  table.title = "What would make it fit";
  table.note = "Cheapest first, by rules of thumb for what each change costs in time.";
  table.columns = {column("change", Unit::text), column("peak", Unit::bytes),
                   column("on the device", Unit::bytes, true), column("slower by", Unit::percent),
                   column("remarks", Unit::text)};
  for (const plan::FittingChange& change : changes) {
    std::vector<std::string> remarks;
    if (change.changes_results) remarks.emplace_back("changes results");
    if (!change.plan.unverified.empty())
      remarks.push_back("unverified: " + joined(change.plan.unverified, ", "));
    table.rows.push_back({Json(joined(change.changes, " ")), Json(change.plan.peak()),
                          Json(change.plan.device_total()), Json(change.slowdown_percent),
                          Json(joined(remarks, "; "))});
  }
  return table;
}

std::string peak_sentence(const plan::Plan& plan) {
  const std::string& doing = plan.step.peak().peak_doing;
  return base::format_text("%s ± %.0f %% at the peak, in the %s phase%s",
                           bytes_text(plan.peak()).c_str(), plan.error_percent,
                           plan::name_of(plan.step.peak_phase()),
                           doing.empty() ? "" : (" (" + spaced(doing) + ")").c_str());
}

page::Verdict plan_card(const plan::Plan& plan, const PlanPage& beside) {
  page::Verdict verdict;
  verdict.name = "peak";
  verdict.headline = peak_sentence(plan);
  if (beside.cap) {
    verdict.name = beside.fits ? "fits" : "does not fit";
    verdict.tone = beside.fits ? page::Tone::good : page::Tone::bad;
    verdict.headline =
        base::format_text("Needs %s of the device's %s", bytes_text(plan.device_total()).c_str(),
                          bytes_text(*beside.cap).c_str());
    verdict.evidence.push_back(peak_sentence(plan));
    verdict.evidence.emplace_back("counted as fitting with 10 % more in the allocator's segments");
    if (!beside.changes.empty()) {
      const plan::FittingChange& cheapest = beside.changes.front();
      const std::string change = joined(cheapest.changes, " ");
      verdict.fix = page::Fix{
          base::format_text("The cheapest change, to %s: %s",
                            bytes_text(cheapest.plan.device_total()).c_str(), change.c_str()),
          change.substr(0, change.find(" ("))};
    } else if (!beside.fits) {
      verdict.evidence.emplace_back("no change that was tried makes it fit");
    }
  }
  if (plan.correction) {
    verdict.confidence = "corrected by a recording";
    verdict.evidence.push_back(base::format_text(
        "the recorded step's peak was %s, %+.1f %% off the plan",
        bytes_text(plan.correction->recorded.peak).c_str(), plan.correction->percent()));
  }
  for (const std::string& what : plan.unverified)
    verdict.evidence.push_back("unverified: " + what);
  return verdict;
}

/// Nothing fits at 0.
page::Fact largest_fact(const char* what, std::uint64_t number) {
  return {what, number == 0 ? "none" : std::to_string(number)};
}

}  // namespace

page::Document page_of_plan(const plan::Plan& plan, const PlanPage& beside) {
  page::Document page;
  page.title = "Plan";
  page.subtitle = plan.subject;
  page.facts = {
      {"peak", bytes_text(plan.peak())},         {"on the device", bytes_text(plan.device_total())},
      {"weights", bytes_text(plan.weights)},     {"gradients", bytes_text(plan.gradients)},
      {"optimizer", bytes_text(plan.optimizer)}, {"activations", bytes_text(plan.activations())}};
  if (plan.kv_cache_per_token)
    page.facts.push_back({"KV cache per token", bytes_text(*plan.kv_cache_per_token)});
  page.facts.insert(page.facts.end(), beside.found.begin(), beside.found.end());
  page.verdict = plan_card(plan, beside);
  if (!beside.changes.empty()) page.tables.push_back(changes_of(beside.changes));
  page.tables.push_back(phase_table(plan));
  page.tables.push_back(parts_of(plan));
  page.bars.push_back(phases_of(plan, beside.cap));
  return page;
}

PlanPage beside_plan(const plan::Fit& fit) {
  return {fit.cap,
          fit.fits,
          {largest_fact("largest batch", fit.largest_batch),
           largest_fact("largest sequence", fit.largest_sequence)},
          fit.changes};
}

PlanPage beside_plan(const plan::NetworkFit& fit) {
  return {fit.cap, fit.fits, {largest_fact("largest batch", fit.largest_batch)}, {}};
}

}  // namespace ebb::show
