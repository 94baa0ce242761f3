// SPDX-License-Identifier: Apache-2.0
#include "plan/presets.h"

#include "base/check.h"
#include "base/text.h"

namespace ebb::plan {
namespace {

struct Preset {
  std::string_view name;
  TransformerModel model;
};

constexpr TransformerModel gpt(Architecture architecture, std::uint64_t layers,
                               std::uint64_t d_model, std::uint64_t heads, std::uint64_t vocab,
                               std::uint64_t positions) {
  TransformerModel model;
  model.architecture = architecture;
  model.layers = layers;
  model.d_model = d_model;
  model.heads = heads;
  model.vocab = vocab;
  model.max_positions = positions;
  return model;
}

constexpr TransformerModel llama(std::uint64_t layers, std::uint64_t d_model, std::uint64_t heads,
                                 std::uint64_t kv_heads, std::uint64_t d_ff, std::uint64_t vocab,
                                 bool tied = false, bool qkv_bias = false) {
  TransformerModel model;
  model.architecture = Architecture::llama;
  model.layers = layers;
  model.d_model = d_model;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.d_ff = d_ff;
  model.vocab = vocab;
  model.tied = tied;
  model.qkv_bias = qkv_bias;
  return model;
}

constexpr Preset kPresets[] = {
    {"gpt2", gpt(Architecture::gpt2, 12, 768, 12, 50257, 1024)},
    {"gpt2-medium", gpt(Architecture::gpt2, 24, 1024, 16, 50257, 1024)},
    {"gpt2-large", gpt(Architecture::gpt2, 36, 1280, 20, 50257, 1024)},
    {"gpt2-xl", gpt(Architecture::gpt2, 48, 1600, 25, 50257, 1024)},
    {"gpt-3", gpt(Architecture::megatron, 96, 12288, 96, 50257, 2048)},
    {"mt-nlg-530b", gpt(Architecture::megatron, 105, 20480, 128, 50257, 2048)},
    {"llama-7b", llama(32, 4096, 32, 32, 11008, 32000)},
    {"llama-2-7b", llama(32, 4096, 32, 32, 11008, 32000)},
    {"llama-2-13b", llama(40, 5120, 40, 40, 13824, 32000)},
    {"llama-2-70b", llama(80, 8192, 64, 8, 28672, 32000)},
    {"llama-3-8b", llama(32, 4096, 32, 8, 14336, 128256)},
    {"llama-3-70b", llama(80, 8192, 64, 8, 28672, 128256)},
    {"llama-3.2-1b", llama(16, 2048, 32, 8, 8192, 128256, true)},
    {"llama-3.2-3b", llama(28, 3072, 24, 8, 8192, 128256, true)},
    {"mistral-7b", llama(32, 4096, 32, 8, 14336, 32000)},
    {"qwen2.5-7b", llama(28, 3584, 28, 4, 18944, 152064, false, true)},
};

}  // namespace

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& known : kPresets)
    names.push_back(known.name);
  return names;
}

base::Result<TransformerModel> preset(std::string_view name) {
  for (const Preset& known : kPresets)
    if (known.name == name) return known.model.completed();
  const std::string shown(name.substr(0, 60));
  if (const auto guess = base::nearest(name, preset_names()))
    return base::error(base::Code::bad_input, "preset '%s': did you mean %s?", shown.c_str(),
                       std::string(*guess).c_str());
  return base::error(base::Code::bad_input,
                     "preset '%s' is not known (ebb plan transformer --help lists them)",
                     shown.c_str());
}

}  // namespace ebb::plan
