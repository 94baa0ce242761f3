// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "plan/options.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

constexpr std::string_view kNoForm;
constexpr std::string_view kModel = "Model";

template <class Kind, std::size_t n>
std::vector<std::string_view> names_of(const std::array<Kind, n>& kinds) {
  std::vector<std::string_view> names;
  for (const Kind kind : kinds)
    names.emplace_back(name_of(kind));
  return names;
}

void add(base::Options& table, std::string_view group, base::Options options) {
  for (base::Option& option : options) {
    option.group = group;
    table.push_back(std::move(option));
  }
}

/// `batch`, `precision` and `optimizer` are what they are where they are not given.
void add_steps(base::Options& table, CommonOptions& o, std::uint64_t batch, Precision precision,
               Optimizer optimizer) {
  add(table, kTrainingGroup,
      {{.key = "batch",
        .place = &o.batch,
        .help = "Samples of one step on one device",
        .shown = std::to_string(batch)},
       {.key = "precision",
        .place = &o.precision,
        .help = "Types that it computes in; amp is bf16 autocast",
        .shown = name_of(precision),
        .choices = names_of(kPrecisions)},
       {.key = "optimizer",
        .place = &o.optimizer,
        .help = "As in torch.optim; adam8bit as in bitsandbytes",
        .shown = name_of(optimizer),
        .choices = names_of(kOptimizers)}});
}

void add_device(base::Options& table, CommonOptions& o) {
  add(table, kDeviceGroup,
      {{"cap", base::Bytes{&o.cap}, "Memory of the device, e.g. 24GiB"},
       {.key = "context",
        .place = base::Bytes{&o.context},
        .help = "What CUDA itself takes on the device",
        .shown = "512MiB"}});
  add(table, kNoForm,
      {{"fit", &o.fit, "What fits into --cap"},
       {"measured", &o.measured,
        "A snapshot of PyTorch's allocator from such steps, to correct the plan with"}});
}

}  // namespace

base::Options options_of(TransformerOptions& o) {
  const TransformerRequest usual;
  const TransformerTraining& training = usual.training;
  base::Options table;
  add(table, kModel,
      {{.key = "preset",
        .place = &o.preset,
        .help = "A published model",
        .written = "preset,--preset",
        .choices = preset_names()},
       {.key = "arch",
        .place = &o.architecture,
        .help = "Whose operators run",
        .choices = names_of(kArchitectures)}});
  add(table, kNoForm, {{"config", &o.config, "The config.json of a Hugging Face model"}});
  add(table, kShapeGroup,
      {{"layers", &o.layers, "Number of layers"},
       {"d_model", &o.d_model, "Width"},
       {"heads", &o.heads, "Attention heads"},
       {"kv_heads", &o.kv_heads, "Heads of keys and values (as many as heads)"},
       {"d_ff", &o.d_ff, "Width of the feed-forward part (4 times the width)"},
       {"vocab", &o.vocab, "Tokens in the vocabulary"},
       {"max_positions", &o.max_positions, "Learned positions (gpt2: 1024)"},
       {"tied", &o.tied, "The output layer is the embedding table"},
       {"untied", &o.untied, "The output layer has a table of its own"}});
  add_steps(table, o, training.batch, training.precision, usual.optimizer);
  add(table, kTrainingGroup,
      {{.key = "seq",
        .place = &o.sequence,
        .help = "Tokens of one sample",
        .shown = std::to_string(training.sequence)},
       {.key = "attention",
        .place = &o.attention,
        .help = "How attention is computed",
        .shown = name_of(training.attention),
        .choices = names_of(kAttentions)},
       {.key = "checkpoint",
        .place = &o.checkpoint,
        .help = "What the backward pass computes again",
        .shown = name_of(training.checkpoint),
        .choices = names_of(kCheckpoints)},
       {.key = "dropout", .place = &o.dropout, .help = "Probability", .shown = "0"},
       {"lora", &o.lora, "Train only adapters of this rank"},
       {"accumulate", &o.accumulate, "Gradients of several batches are summed before each step"}});
  add_device(table, o);
  add(table, kDevicesGroup,
      {{.key = "gpus", .place = &o.gpus, .help = "Devices altogether"},
       {.key = "zero", .place = &o.zero, .help = "ZeRO's stage, 0 to 3", .shown = "0"},
       {"fsdp", &o.fsdp, "Fully sharded: --zero 3"},
       {.key = "tp",
        .place = &o.tensor_parallel,
        .help = "Devices that share each layer",
        .shown = "1"},
       {.key = "pp", .place = &o.pipeline, .help = "Stages of a pipeline", .shown = "1"}});
  return table;
}

base::Options options_of(NetworkOptions& o) {
  const NetworkRequest usual;
  base::Options table;
  add(table, kModel,
      {{.key = "name",
        .place = &o.name,
        .help = "A network of the simulator (the command also takes a JSON file of one)",
        .written = "name",
        .required = true,
        .choices = network_names()},
       {"channels", &o.channels, "Channels of a picture"},
       {"size", &o.size, "Height and width of a picture"},
       {"classes", &o.classes, "Classes"}});
  add_steps(table, o, usual.batch, usual.precision, usual.optimizer);
  add_device(table, o);
  return table;
}

}  // namespace ebb::plan
