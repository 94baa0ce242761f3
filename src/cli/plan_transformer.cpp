// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/plan_options.h"
#include "plan/presets.h"
#include "show/plan_view.h"

namespace ebb::cli {
namespace {

struct TransformerOptions : plan::TransformerOptions, OutputOptions {};

int run_transformer(const TransformerOptions& options) {
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
      std::puts(to_json(*plan).text(true).c_str());
    } else {
      std::fputs(show::plan_text(*plan, style).c_str(), stdout);
    }
    return write_plan_page(*plan, {}, options);
  }
  const auto fit = plan::fit(*request, **cap);
  if (!fit) return complain(fit.error());
  if (options.json) {
    base::Json json = to_json(fit->plan);
    json.set("fit", to_json(*fit));
    std::puts(json.text(true).c_str());
  } else {
    std::fputs((show::plan_text(fit->plan, style) + show::fit_text(*fit, style)).c_str(), stdout);
  }
  return write_plan_page(fit->plan, show::page_beside(*fit), options);
}

}  // namespace

void add_plan_transformer(CLI::App& plan, Action& action) {
  auto options = std::make_shared<TransformerOptions>();
  CLI::App* verb = plan.add_subcommand("transformer", "A decoder like GPT-2 or Llama");
  std::string names;
  for (const std::string_view name : plan::preset_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  verb->add_option("preset,--preset", options->preset, "A published model: " + names);
  verb->add_option("--config", options->config, "The config.json of a Hugging Face model");
  verb->add_option("--arch", options->architecture, "gpt2, llama or megatron");
  add_number(*verb, "--layers", options->layers, "Number of layers");
  add_number(*verb, "--d-model", options->d_model, "Width");
  add_number(*verb, "--heads", options->heads, "Attention heads");
  add_number(*verb, "--kv-heads", options->kv_heads, "Heads of keys and values (as many as heads)");
  add_number(*verb, "--d-ff", options->d_ff, "Width of the feed-forward part (4 times the width)");
  add_number(*verb, "--vocab", options->vocab, "Tokens in the vocabulary");
  add_number(*verb, "--max-positions", options->max_positions, "Learned positions (gpt2: 1024)");
  verb->add_flag("--tied", options->tied, "The output layer is the embedding table");
  verb->add_flag("--untied", options->untied, "The output layer has a table of its own");
  add_number(*verb, "--seq", options->sequence, "Tokens of one sample (1024)");
  verb->add_option("--attention", options->attention, "eager, sdpa or flash");
  verb->add_option("--checkpoint", options->checkpoint, "none, full or selective");
  verb->add_option("--dropout", options->dropout, "Probability (0)");
  add_number(*verb, "--lora", options->lora, "Train only adapters of this rank");
  verb->add_flag("--accumulate", options->accumulate,
                 "Gradients of several batches are summed before each step");
  verb->add_option("--zero", options->zero, "ZeRO's stage, 0 to 3");
  verb->add_flag("--fsdp", options->fsdp, "Fully sharded: --zero 3");
  add_number(*verb, "--tp", options->tensor_parallel, "Devices that share each layer");
  add_number(*verb, "--pp", options->pipeline, "Stages of a pipeline");
  add_number(*verb, "--gpus", options->gpus, "Devices altogether");
  add_common(*verb, *options, *options);
  verb->footer(
      "Examples:\n"
      "  ebb plan transformer gpt2 --batch 8 --precision bf16\n"
      "  ebb plan transformer llama-3-8b --seq 4096 --checkpoint full --cap 80GiB --fit\n"
      "  ebb plan transformer --config config.json --batch 2 --json\n"
      "  ebb plan transformer --arch llama --layers 16 --d-model 1024 --heads 16 --kv-heads 4 \\\n"
      "    --d-ff 2816 --vocab 32000 --seq 2048 --attention eager");
  verb->callback([options, &action] { action = [options] { return run_transformer(*options); }; });
}

}  // namespace ebb::cli
