// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/plan_options.h"
#include "plan/client_table.h"
#include "show/plan_view.h"

namespace ebb::cli {
namespace {

struct ClientTableWords : plan::ClientTableOptions {
  bool json = false;
};

base::Options options_of(ClientTableWords& words) {
  base::Options options = plan::options_of(static_cast<plan::ClientTableOptions&>(words));
  options.push_back({"json", &words.json, "One JSON object (docs/plan.md)"});
  return options;
}

int run_clients(const ClientTableWords& options) {
  const auto table = plan::client_table(options);
  if (!table) return complain(table.error());
  if (options.json) {
    answer_json(to_json(*table), true);
  } else {
    const term::Style style = term::Style::of_stream(STDOUT_FILENO);
    answer(show::client_table_text(*table, style));
  }
  return kDone;
}

}  // namespace

void add_plan_clients(Verb plan) {
  plan.add({"clients", "How many clients of a model train side by side, by card",
            "Examples:\n"
            "  ebb plan clients\n"
            "  ebb plan clients --model ResNet18 --channels 3 --size 32 --batch 64\n"
            "  ebb plan clients --card T4 --card 24GiB --json"},
           run_clients);
}

}  // namespace ebb::cli
