// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/plan_options.h"
#include "show/plan_view.h"

namespace ebb::cli {
namespace {

struct TransformerWords : plan::TransformerOptions, OutputOptions {};

base::Options options_of(TransformerWords& words) {
  return with_output_options(plan::options_of(static_cast<plan::TransformerOptions&>(words)),
                             words);
}

int run_transformer(const TransformerWords& options) {
  const auto asked = plan::request_of(options);
  if (!asked) return complain(asked.error());
  const auto request = corrected(*asked, options);
  if (!request) return complain(request.error());
  const auto cap = plan::cap_of(options);
  if (!cap) return complain(cap.error());
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  if (!*cap) {
    const auto plan = plan::plan(*request);
    if (!plan) return complain(plan.error());
    if (options.json) {
      answer_json(to_json(*plan), true);
    } else {
      answer(show::plan_text(*plan, style));
    }
    return write_plan_page(*plan, {}, options);
  }
  const auto fit = plan::fit(*request, **cap);
  if (!fit) return complain(fit.error());
  if (options.json) {
    answer_json(plan_json(*fit), true);
  } else {
    answer(show::plan_text(fit->plan, style) + show::fit_text(*fit, style));
  }
  return write_plan_page(fit->plan, show::beside_plan(*fit), options);
}

}  // namespace

void add_plan_transformer(Verb plan) {
  plan.add(
      {"transformer", "A decoder like GPT-2 or Llama",
       "Examples:\n"
       "  ebb plan transformer gpt2 --batch 8 --precision bf16\n"
       "  ebb plan transformer llama-3-8b --seq 4096 --checkpoint full --cap 80GiB --fit\n"
       "  ebb plan transformer --config config.json --batch 2 --json\n"
       "  ebb plan transformer --arch llama --layers 16 --d-model 1024 --heads 16 --kv-heads 4 \\\n"
       "    --d-ff 2816 --vocab 32000 --seq 2048 --attention eager"},
      run_transformer);
}

}  // namespace ebb::cli
