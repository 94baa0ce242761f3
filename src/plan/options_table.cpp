// SPDX-License-Identifier: Apache-2.0
#include "plan/options.h"
#include "plan/presets.h"

namespace ebb::plan {
namespace {

void add_common(base::Options& table, CommonOptions& o) {
  const base::Options common = {
      {"batch", &o.batch, "Samples of one step on one device"},
      {"precision", &o.precision, "fp32, amp (bf16 autocast), bf16 or fp16-mixed"},
      {"optimizer", &o.optimizer, "adamw, adam, sgd, sgdm, adam8bit or adafactor"},
      {"cap", base::Bytes{&o.cap}, "Memory of the device, e.g. 24GiB"},
      {"fit", &o.fit, "What fits into --cap"},
      {"context", base::Bytes{&o.context}, "What CUDA itself takes on the device (512MiB)"},
      {"measured", &o.measured,
       "A snapshot of PyTorch's allocator from such steps, to correct the plan with"},
  };
  table.insert(table.end(), common.begin(), common.end());
}

}  // namespace

base::Options options_of(TransformerOptions& o) {
  std::string presets;
  for (const std::string_view name : preset_names())
    presets += (presets.empty() ? "" : ", ") + std::string(name);
  base::Options table = {
      {"preset", &o.preset, "A published model: " + presets, "preset,--preset"},
      {"config", &o.config, "The config.json of a Hugging Face model"},
      {"arch", &o.architecture, "gpt2, llama or megatron"},
      {"layers", &o.layers, "Number of layers"},
      {"d_model", &o.d_model, "Width"},
      {"heads", &o.heads, "Attention heads"},
      {"kv_heads", &o.kv_heads, "Heads of keys and values (as many as heads)"},
      {"d_ff", &o.d_ff, "Width of the feed-forward part (4 times the width)"},
      {"vocab", &o.vocab, "Tokens in the vocabulary"},
      {"max_positions", &o.max_positions, "Learned positions (gpt2: 1024)"},
      {"tied", &o.tied, "The output layer is the embedding table"},
      {"untied", &o.untied, "The output layer has a table of its own"},
      {"seq", &o.sequence, "Tokens of one sample (1024)"},
      {"attention", &o.attention, "eager, sdpa or flash"},
      {"checkpoint", &o.checkpoint, "none, full or selective"},
      {"dropout", &o.dropout, "Probability (0)"},
      {"lora", &o.lora, "Train only adapters of this rank"},
      {"accumulate", &o.accumulate, "Gradients of several batches are summed before each step"},
      {"zero", &o.zero, "ZeRO's stage, 0 to 3"},
      {"fsdp", &o.fsdp, "Fully sharded: --zero 3"},
      {"tp", &o.tensor_parallel, "Devices that share each layer"},
      {"pp", &o.pipeline, "Stages of a pipeline"},
      {"gpus", &o.gpus, "Devices altogether"},
  };
  add_common(table, o);
  return table;
}

base::Options options_of(NetworkOptions& o) {
  std::string networks;
  for (const std::string_view name : network_names())
    networks += (networks.empty() ? "" : ", ") + std::string(name);
  base::Options table = {
      {"name", &o.name, networks + ", or a JSON file that describes one", "name", nullptr, true},
      {"channels", &o.channels, "Channels of a picture"},
      {"size", &o.size, "Height and width of a picture"},
      {"classes", &o.classes, "Classes"},
  };
  add_common(table, o);
  return table;
}

}  // namespace ebb::plan
