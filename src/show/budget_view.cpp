// SPDX-License-Identifier: Apache-2.0
#include "show/budget_view.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "show/words.h"
#include "term/table.h"

namespace ebb::show {
namespace {

using base::format_text;
using ull = unsigned long long;
using Cell = std::optional<std::uint64_t>;

/// The parts that a plan has too, of one device. It counts the copy in f32 as optimizer state.
struct ExactParts {
  Cell weights, gradients, master_weights, optimizer_state, activations, total;
};

ExactParts exact_parts(const plan::Budget& budget) {
  if (!budget.exact) return {};
  const plan::Plan& plan = *budget.exact;
  ExactParts parts;
  const bool has_master = budget.master_weights > 0;
  const std::uint64_t master =
      has_master ? std::min(plan.optimizer, (4 * plan.trainable + budget.gpus - 1) / budget.gpus)
                 : 0;
  parts.weights = plan.weights;
  parts.gradients = plan.gradients;
  if (has_master) parts.master_weights = master;
  parts.optimizer_state = plan.optimizer - master;
  parts.activations = plan.activations();
  parts.total = plan.device_total();
  return parts;
}

std::string parts_table(const plan::Budget& budget, const term::Style& style) {
  std::vector<term::Table::Column> columns = {{"part", term::Align::left}, {"all devices"}};
  if (budget.gpus > 1) columns.push_back({"one of " + std::to_string(budget.gpus)});
  if (budget.exact) columns.push_back({"exact plan"});
  term::Table table(std::move(columns));
  const auto add = [&](const char* name, const Cell& all, const Cell& exact) {
    std::vector<std::string> row = {name, term::or_dash(all)};
    if (budget.gpus > 1)
      row.push_back(term::or_dash(all ? Cell((*all + budget.gpus - 1) / budget.gpus) : Cell()));
    if (budget.exact) row.push_back(term::or_dash(exact));
    table.add_row(std::move(row));
  };
  const ExactParts exact = exact_parts(budget);
  add("weights", budget.weights, exact.weights);
  add("gradients", budget.gradients, exact.gradients);
  if (budget.master_weights > 0) add("master weights", budget.master_weights, exact.master_weights);
  add("optimizer state", budget.optimizer_state, exact.optimizer_state);
  add("activations", budget.activations, exact.activations);
  add(format_text("overhead %g %%", budget.overhead_percent).c_str(), budget.overhead, {});
  add("total", budget.total(), exact.total);
  return table.text(style);
}

}  // namespace

std::string budget_text(const plan::Budget& budget, const term::Style& style) {
  std::string text = format_text("%s parameters, %s, %s: %.4g bytes each\n\n",
                                 count_text(budget.parameters).c_str(), budget.optimizer.c_str(),
                                 budget.precision.c_str(), budget.bytes_per_parameter);
  text += parts_table(budget, style) + "\n";
  std::string amount = format_text("%.1f GB", static_cast<double>(budget.per_gpu()) / 1e9);
  if (budget.gpus > 1) amount += format_text(" on each of %llu devices", ull{budget.gpus});
  text += style.paint(amount, term::Colour::bold);
  text += ", by the formula\n";
  if (!budget.activations)
    text += "activations are not counted: --activation-gb says how much they are\n";
  if (!budget.exact) return text;
  const plan::Plan& plan = *budget.exact;
  text += format_text("%.1f GB, by the plan of its steps: %s\n",
                      static_cast<double>(plan.device_total()) / 1e9, plan.subject.c_str());
  text += format_text("the formula is %.0f %% %s\n", std::abs(*budget.difference_percent()),
                      *budget.difference_percent() < 0 ? "below it" : "above it");
  return text;
}

}  // namespace ebb::show
