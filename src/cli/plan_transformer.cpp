// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <tuple>

#include "base/file.h"
#include "cli/plan_options.h"
#include "cli/plan_view.h"
#include "plan/presets.h"

namespace ebb::cli {
namespace {

using base::Code;

struct TransformerOptions : CommonOptions {
  std::optional<std::string> preset, config, architecture;
  std::optional<std::uint64_t> layers, d_model, heads, kv_heads, d_ff, vocab, max_positions;
  std::optional<std::uint64_t> sequence, tensor_parallel, pipeline, gpus, lora;
  std::optional<int> zero;
  std::optional<double> dropout;
  std::optional<std::string> attention, checkpoint;
  bool tied = false, untied = false, fsdp = false, accumulate = false;
};

base::Result<plan::TransformerModel> base_model(const TransformerOptions& options) {
  if (options.preset && options.config)
    return base::error(Code::bad_input, "--preset and --config: expected one of them");
  if (options.preset) return plan::preset(*options.preset);
  if (options.config) {
    const auto text = base::read_file(*options.config, 1 << 20);
    if (!text) return text.error();
    return plan::model_from_config(*text, *options.config);
  }
  plan::TransformerModel model;
  if (!options.architecture)
    return base::error(Code::bad_input,
                       "what to plan is missing: expected a preset, --config or --arch");
  const auto architecture = plan::architecture_from(*options.architecture);
  if (!architecture) return architecture.error();
  model.tied = *architecture != plan::Architecture::llama;
  for (const auto& [option, given] :
       {std::pair{"--layers", options.layers}, std::pair{"--d-model", options.d_model},
        std::pair{"--heads", options.heads}, std::pair{"--vocab", options.vocab}}) {
    if (!given) return base::error(Code::bad_input, "%s is missing", option);
  }
  return model;
}

base::Result<plan::TransformerModel> model_of(const TransformerOptions& options) {
  auto model = base_model(options);
  if (!model) return model;
  if (options.tied && options.untied)
    return base::error(Code::bad_input, "--tied and --untied: expected one of them");
  if (const auto status = read(options.architecture, plan::architecture_from, model->architecture);
      !status)
    return status.error();
  // What follows from other sizes follows from the new ones.
  if (options.d_model || options.heads) model->head_size = 0;
  if (options.heads && !options.kv_heads) model->kv_heads = 0;
  if (options.d_model && !options.d_ff) model->d_ff = 0;
  set(options.layers, model->layers);
  set(options.d_model, model->d_model);
  set(options.heads, model->heads);
  set(options.vocab, model->vocab);
  for (const auto& [option, given, to] :
       {std::tuple{"--kv-heads", options.kv_heads, &model->kv_heads},
        std::tuple{"--d-ff", options.d_ff, &model->d_ff},
        std::tuple{"--max-positions", options.max_positions, &model->max_positions}}) {
    if (given && *given == 0)
      return base::error(Code::bad_input, "%s 0: expected 1 or more", option);
    set(given, *to);
  }
  if (options.tied) model->tied = true;
  if (options.untied) model->tied = false;
  return model->completed();
}

base::Result<plan::TransformerRequest> request_of(const TransformerOptions& options) {
  auto model = model_of(options);
  if (!model) return model.error();
  plan::TransformerRequest request;
  request.model = *model;
  plan::TransformerTraining& training = request.training;
  training.sequence =
      std::min<std::uint64_t>(1024, model->max_positions > 0 ? model->max_positions : 1024);
  for (const base::Status& status :
       {read(options.precision, plan::precision_from, training.precision),
        read(options.attention, plan::attention_from, training.attention),
        read(options.checkpoint, plan::checkpoint_from, training.checkpoint),
        read(options.optimizer, plan::optimizer_from, request.optimizer),
        read_bytes("--context", options.context, request.surroundings.context)})
    if (!status) return status.error();
  set(options.sequence, training.sequence);
  set(options.batch, training.batch);
  set(options.dropout, training.dropout);
  set(options.lora, training.lora_rank);
  set(options.tensor_parallel, training.tensor_parallel);
  set(options.pipeline, request.pipeline);
  set(options.zero, request.zero);
  if (options.fsdp && options.zero && *options.zero != 3)
    return base::error(Code::bad_input, "--fsdp is --zero 3, not --zero %d", *options.zero);
  if (options.fsdp) request.zero = 3;
  request.accumulates = options.accumulate;
  request.gpus = options.gpus.value_or(training.tensor_parallel * request.pipeline);
  if (request.zero > 0 && request.gpus == training.tensor_parallel * request.pipeline)
    return base::error(Code::bad_input, "--zero %d: nothing to split over; --gpus says how many",
                       request.zero);
  return request;
}

int run_transformer(const TransformerOptions& options) {
  const auto asked = request_of(options);
  if (!asked) return report(asked.error());
  const auto request = corrected(*asked, options);
  if (!request) return report(request.error());
  const auto cap = cap_of(options);
  if (!cap) return report(cap.error());
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  if (!*cap) {
    const auto plan = plan::plan(*request);
    if (!plan) return report(plan.error());
    if (options.json) {
      std::puts(to_json(*plan).text(true).c_str());
    } else {
      print_plan(*plan, style);
    }
    return write_plan_page(*plan, {}, options);
  }
  const auto fit = plan::fit(*request, **cap);
  if (!fit) return report(fit.error());
  if (options.json) {
    base::Json json = to_json(fit->plan);
    json.set("fit", to_json(*fit));
    std::puts(json.text(true).c_str());
  } else {
    print_plan(fit->plan, style);
    print_fit(*fit, style);
  }
  return write_plan_page(fit->plan, page_beside(*fit), options);
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
  add_common(*verb, *options);
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
