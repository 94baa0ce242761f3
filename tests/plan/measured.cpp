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

MeasuredStep step_of(const base::Json& row) {
  MeasuredStep step;
  TransformerModel model;
  model.architecture = *architecture_from(word(row, "arch"));
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
  step.parameters = number(row, "params");
  step.weights = number(row, "weights");
  step.gradients = number(row, "grads");
  step.optimizer_state = number(row, "optimizer");
  step.before = number(row, "before");
  step.after_forward = number(row, "after_forward");
  step.after_backward = number(row, "after_backward");
  step.peak = number(row, "peak");
  step.reserved_peak = number(row, "reserved_peak");
  step.text = base::format_text(
      "%s %s %s %s%s%s L%llu d%llu s%llu b%llu", word(row, "arch").c_str(),
      word(row, "precision").c_str(), word(row, "attn").c_str(), word(row, "opt").c_str(),
      flag(row, "checkpoint", false) ? " ckpt" : "", step.training.dropout > 0 ? " drop" : "",
      static_cast<unsigned long long>(step.model.layers),
      static_cast<unsigned long long>(step.model.d_model),
      static_cast<unsigned long long>(step.training.sequence),
      static_cast<unsigned long long>(step.training.batch));
  return step;
}

}  // namespace

std::vector<MeasuredStep> measured_steps(const std::string& name) {
  const auto text = base::read_file(std::string(EBB_TEST_DATA) + "/plan/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  if (!text) return {};
  const auto json = base::parse_json(*text);
  EXPECT_TRUE(json && json->is_array()) << name;
  if (!json || !json->is_array()) return {};
  std::vector<MeasuredStep> steps;
  for (const base::Json& row : *json->as_array())
    steps.push_back(step_of(row));
  return steps;
}

}  // namespace ebb::plan
