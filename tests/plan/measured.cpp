// SPDX-License-Identifier: Apache-2.0
#include "plan/measured.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace ebb::plan {
namespace {

std::uint64_t number(const base::Json& row, const char* key, std::uint64_t otherwise = 0) {
  const base::Json* found = row.find(key);
  return found == nullptr ? otherwise : found->as_unsigned().value_or(otherwise);
}

std::string word(const base::Json& row, const char* key) {
  const base::Json* found = row.find(key);
  return found == nullptr || found->as_string() == nullptr ? "" : *found->as_string();
}

bool flag(const base::Json& row, const char* key, bool otherwise) {
  const base::Json* found = row.find(key);
  return found == nullptr ? otherwise : found->as_bool().value_or(otherwise);
}

Measured measured_of(const base::Json& row) {
  Measured measured;
  measured.parameters = number(row, "params");
  measured.weights = number(row, "weights");
  measured.gradients = number(row, "grads");
  measured.optimizer_state = number(row, "optimizer");
  measured.before = number(row, "before");
  measured.after_forward = number(row, "after_forward");
  measured.after_backward = number(row, "after_backward");
  measured.peak = number(row, "peak");
  measured.reserved_peak = number(row, "reserved_peak");
  return measured;
}

MeasuredStep step_of(const base::Json& row) {
  MeasuredStep step;
  TransformerModel model;
  model.qkv_bias = word(row, "arch") == "qwen2";
  model.architecture = model.qkv_bias ? Architecture::llama : *architecture_from(word(row, "arch"));
  model.layers = number(row, "layers");
  model.d_model = number(row, "d_model");
  model.heads = number(row, "heads");
  model.kv_heads = number(row, "kv_heads");
  model.d_ff = number(row, "d_ff");
  model.vocab = number(row, "vocab");
  const bool gpt2 = model.architecture == Architecture::gpt2;
  model.max_positions = gpt2 ? number(row, "positions", 4096) : 0;
  model.tied = flag(row, "tied", gpt2);
  step.model = *model.completed();
  step.training.sequence = number(row, "seq");
  step.training.batch = number(row, "batch");
  step.training.precision = *precision_from(word(row, "precision"));
  step.training.attention = *attention_from(word(row, "attn"));
  step.training.checkpoint = flag(row, "checkpoint", false) ? Checkpoint::full : Checkpoint::none;
  step.training.dropout = row.find("dropout")->as_double().value_or(0);
  step.training.lora_rank = number(row, "lora");
  step.optimizer = *optimizer_from(word(row, "opt"));
  step.accumulates = number(row, "accumulate") > 1;
  step.measured = measured_of(row);
  step.text = base::format_text(
      "%s %s %s %s%s%s%s L%llu d%llu s%llu b%llu", word(row, "arch").c_str(),
      word(row, "precision").c_str(), word(row, "attn").c_str(), word(row, "opt").c_str(),
      flag(row, "checkpoint", false) ? " ckpt" : "", number(row, "lora") > 0 ? " lora" : "",
      step.accumulates ? " sums" : "", static_cast<unsigned long long>(step.model.layers),
      static_cast<unsigned long long>(step.model.d_model),
      static_cast<unsigned long long>(step.training.sequence),
      static_cast<unsigned long long>(step.training.batch));
  return step;
}

MeasuredNetwork network_of(const base::Json& row) {
  MeasuredNetwork step;
  const std::uint64_t size = number(row, "size");
  step.network = *network_named(word(row, "model"), {number(row, "channels"), size, size},
                                number(row, "classes"));
  step.batch = number(row, "batch");
  step.precision = *precision_from(word(row, "precision"));
  step.optimizer = *optimizer_from(word(row, "opt"));
  step.measured = measured_of(row);
  step.text =
      base::format_text("%s %s %s b%llu", step.network.name.c_str(), word(row, "precision").c_str(),
                        word(row, "opt").c_str(), static_cast<unsigned long long>(step.batch));
  return step;
}

/// The rows of one kind, each as `Step`.
template <class Step>
std::vector<Step> rows_of(const std::string& name, const char* kind,
                          Step (*from)(const base::Json&)) {
  const auto text = base::read_file(std::string(EBB_TEST_DATA) + "/plan/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  if (!text) return {};
  const auto json = base::parse_json(*text);
  EXPECT_TRUE(json && json->find("rows") != nullptr) << name;
  if (!json || json->find("rows") == nullptr) return {};
  std::vector<Step> steps;
  for (const base::Json& row : *json->find("rows")->as_array())
    if (word(row, "kind") == kind) steps.push_back(from(row));
  return steps;
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const std::string& name) {
  return rows_of(name, "transformer", step_of);
}

std::vector<MeasuredNetwork> measured_networks(const std::string& name) {
  return rows_of(name, "network", network_of);
}

}  // namespace ebb::plan
