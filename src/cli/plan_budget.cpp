// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/plan_options.h"
#include "plan/budget.h"
#include "show/budget_view.h"

namespace ebb::cli {
namespace {

struct BudgetWords : plan::BudgetOptions {
  bool json = false;
};

base::Options options_of(BudgetWords& words) {
  base::Options options = plan::options_of(static_cast<plan::BudgetOptions&>(words));
  options.push_back({"json", &words.json, "One JSON object (docs/plan.md)"});
  return options;
}

int run_budget(const BudgetWords& options) {
  const auto budget = plan::budget_of(options);
  if (!budget) return complain(budget.error());
  if (options.json) {
    answer_json(to_json(*budget), true);
  } else {
    const term::Style style = term::Style::of_stream(STDOUT_FILENO);
    answer(show::budget_text(*budget, style));
  }
  return kDone;
}

}  // namespace

void add_plan_budget(Verb plan) {
  plan.add({"budget", "The simple formula: bytes per parameter, beside the exact plan",
            "Examples:\n"
            "  ebb plan budget --params 7e9\n"
            "  ebb plan budget --params 175e9 --gpus 8 --activation-gb 60 --overhead 10%\n"
            "  ebb plan budget --model llama-7b --batch 1 --seq 2048"},
           run_budget);
}

}  // namespace ebb::cli
