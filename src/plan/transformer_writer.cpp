// SPDX-License-Identifier: Apache-2.0
#include "plan/transformer_writer.h"

#include <algorithm>

namespace ebb::plan {

TransformerWriter::TransformerWriter(const TransformerModel& model,
                                     const TransformerTraining& training)
    : model_(model),
      training_(training),
      type_(weight_type(training.precision)),
      rows_(training.batch * training.sequence),
      shape_{training.batch, model.heads / training.tensor_parallel,
             model.kv_heads / training.tensor_parallel, training.sequence, model.head_size},
      d_ff_(model.d_ff / training.tensor_parallel),
      vocab_((model.vocab + training.tensor_parallel - 1) / training.tensor_parallel),
      tape_(training.precision == Precision::amp ? std::optional(ElementType::bf16)
                                                 : std::nullopt) {}

TransformerWriter::Linear TransformerWriter::linear_weights(const std::string& name,
                                                            std::uint64_t inputs,
                                                            std::uint64_t outputs, bool bias) {
  const bool frozen = training_.lora_rank > 0;
  Linear linear;
  linear.outputs = outputs;
  linear.weight = tape_.parameter(name + ".weight", type_, outputs, inputs, 1, !frozen);
  if (bias) linear.bias = tape_.vector_parameter(name + ".bias", type_, outputs, !frozen);
  if (frozen) {
    linear.down = tape_.parameter(name + ".lora_a", type_, training_.lora_rank, inputs);
    linear.up = tape_.parameter(name + ".lora_b", type_, outputs, training_.lora_rank);
  }
  return linear;
}

TransformerWriter::Norm TransformerWriter::norm_weights(const std::string& name, bool bias) {
  const bool trainable = training_.lora_rank == 0;
  Norm norm;
  norm.weight = tape_.vector_parameter(name + ".weight", type_, model_.d_model, trainable);
  if (bias) norm.bias = tape_.vector_parameter(name + ".bias", type_, model_.d_model, trainable);
  return norm;
}

void TransformerWriter::write_weights() {
  const bool trainable = training_.lora_rank == 0;
  const std::uint64_t d = model_.d_model;
  const std::uint64_t q = shape_.heads * shape_.head_size;
  const std::uint64_t kv = shape_.kv_heads * shape_.head_size;
  table_ = tape_.parameter("embedding", type_, vocab_, d, 1, trainable);
  if (model_.max_positions > 0)
    positions_ = tape_.parameter("positions", type_, model_.max_positions, d, 1, trainable);
  largest_unit_ = vocab_ * d * bytes_of(type_);
  for (std::uint64_t i = 0; i < model_.layers; ++i) {
    const std::string name = "layers." + std::to_string(i);
    Layer layer;
    if (is_llama()) {
      layer.query = linear_weights(name + ".query", d, q, model_.qkv_bias);
      layer.key = linear_weights(name + ".key", d, kv, model_.qkv_bias);
      layer.value = linear_weights(name + ".value", d, kv, model_.qkv_bias);
      layer.project = linear_weights(name + ".project", q, d, false);
      layer.widen = linear_weights(name + ".gate", d, d_ff_, false);
      layer.beside = linear_weights(name + ".up", d, d_ff_, false);
      layer.narrow = linear_weights(name + ".down", d_ff_, d, false);
      layer.first = norm_weights(name + ".first_norm", false);
      layer.second = norm_weights(name + ".second_norm", false);
    } else {
      layer.first = norm_weights(name + ".first_norm", true);
      layer.qkv = linear_weights(name + ".qkv", d, q + 2 * kv, true);
      layer.project = linear_weights(name + ".project", q, d, true);
      layer.second = norm_weights(name + ".second_norm", true);
      layer.widen = linear_weights(name + ".up", d, d_ff_, true);
      layer.narrow = linear_weights(name + ".down", d_ff_, d, true);
    }
    layers_.push_back(layer);
  }
  last_norm_ = norm_weights("last_norm", !is_llama());
  if (is_llama()) {
    // The rotary frequencies and the copy that the module keeps of them.
    tape_.buffer(model_.head_size / 2, ElementType::f32);
    tape_.buffer(model_.head_size / 2, ElementType::f32);
  }
  output_table_ = model_.tied ? table_ : tape_.parameter("output", type_, vocab_, d, 1, trainable);
}

ValueId TransformerWriter::apply(const Linear& linear, ValueId x) {
  const ValueId out = tape_.linear(x, rows_, linear.outputs, linear.weight, linear.bias);
  if (!linear.down) return out;
  const ValueId narrow = tape_.linear(x, rows_, training_.lora_rank, *linear.down);
  const ValueId wide = tape_.linear(narrow, rows_, linear.outputs, *linear.up);
  return tape_.add(out, tape_.scale(wide));
}

ValueId TransformerWriter::apply(const Norm& norm, ValueId x) {
  tape_.enter(Part::norm);
  if (norm.bias) return tape_.layer_norm(x, rows_, norm.weight, *norm.bias);
  const ValueId wide = tape_.cast(x, ElementType::f32);
  const ValueId variance = tape_.mean(tape_.power(wide), rows_);
  const ValueId root = tape_.reciprocal_root(tape_.shift(variance));
  const ValueId normal = tape_.cast(tape_.multiply(wide, root), tape_.type(x));
  return tape_.multiply(norm.weight, normal);
}

ValueId TransformerWriter::embed() {
  tape_.enter(Part::embedding);
  const ValueId embedded = tape_.embedding(tokens_, table_, rows_, model_.d_model);
  const std::uint64_t length = training_.sequence;
  ValueId x = embedded;
  if (positions_) {
    const ValueId numbers = tape_.made("positions", length, ElementType::i64);
    x = tape_.add(x, tape_.embedding(numbers, *positions_, length, model_.d_model));
  }
  if (training_.attention == Attention::eager && !has_fused_operators()) {
    const std::uint64_t elements = training_.batch * length * length;
    mask_ = tape_.made("attention mask", elements, type_, {length * length, elements});
  }
  if (is_llama()) {
    const std::uint64_t elements = length * model_.head_size;
    cosine_ = tape_.made("rotary table", elements, type_, {elements * 4, elements * 4});
    sine_ = tape_.made("rotary table", elements, type_, {elements * 4, elements * 4});
  } else {
    x = tape_.dropout(x, training_.dropout);
  }
  return x;
}

ValueId TransformerWriter::gelu(ValueId x) {
  if (has_fused_operators()) return tape_.activation("gelu", x);
  // Half of x times one plus the tanh of a cubic, each step a tensor of its own.
  const ValueId half = tape_.scale(x);
  const ValueId cubic = tape_.add(x, tape_.scale(tape_.power(x)));
  const ValueId gate = tape_.shift(tape_.tanh(tape_.scale(cubic)));
  tape_.keep(x);
  return tape_.multiply(half, gate);
}

ValueId TransformerWriter::gpt_layer(const Layer& layer, ValueId x) {
  const ValueId first = apply(layer.first, x);
  tape_.enter(Part::attention);
  const ValueId qkv = apply(layer.qkv, first);
  const std::uint64_t q = rows_ * shape_.heads * shape_.head_size;
  const std::uint64_t kv = rows_ * shape_.kv_heads * shape_.head_size;
  const std::vector<ValueId> heads = tape_.split(qkv, {q, kv, kv});
  const ValueId attended = attend(heads[0], heads[1], heads[2]);
  const ValueId projected = tape_.dropout(apply(layer.project, attended), training_.dropout);
  tape_.keep(first);
  tape_.enter(Part::residual);
  const ValueId middle = tape_.add(projected, x);
  const ValueId second = apply(layer.second, middle);
  tape_.enter(Part::feed_forward);
  const ValueId narrowed = apply(layer.narrow, gelu(apply(layer.widen, second)));
  const ValueId dropped = tape_.dropout(narrowed, training_.dropout);
  tape_.keep(second);
  tape_.keep(projected);
  tape_.enter(Part::residual);
  return tape_.add(middle, dropped);
}

ValueId TransformerWriter::llama_layer(const Layer& layer, ValueId x) {
  const ValueId first = apply(layer.first, x);
  tape_.enter(Part::attention);
  const ValueId query = apply(layer.query, first);
  const ValueId key = apply(layer.key, first);
  const ValueId value = apply(layer.value, first);
  const ValueId attended = attend(rotated(query), rotated(key), value);
  const ValueId projected = apply(layer.project, attended);
  tape_.keep(first);
  tape_.keep(value);
  tape_.enter(Part::residual);
  const ValueId middle = tape_.add(x, projected);
  const ValueId second = apply(layer.second, middle);
  tape_.enter(Part::feed_forward);
  const ValueId gate = tape_.activation("silu", apply(layer.widen, second));
  const ValueId wide = tape_.multiply(gate, apply(layer.beside, second));
  const ValueId narrowed = apply(layer.narrow, wide);
  tape_.keep(second);
  tape_.enter(Part::residual);
  return tape_.add(middle, narrowed);
}

void TransformerWriter::write_loss(ValueId x) {
  const ValueId normal = apply(last_norm_, x);
  tape_.hold(normal);
  tape_.begin_loss();
  tape_.enter(Part::logits);
  const ValueId logits = tape_.linear(normal, rows_, vocab_, output_table_);
  tape_.hold(logits);
  const ValueId wide = tape_.cast(logits, ElementType::f32);
  const ValueId targets = tape_.made("targets", rows_, ElementType::i64, {(rows_ + 1) * 8});
  tape_.cross_entropy(wide, targets);
}

Tape TransformerWriter::write() {
  write_weights();
  tokens_ = tape_.input(rows_, ElementType::i64);
  ValueId x = embed();
  for (const Layer& layer : layers_) {
    const std::uint32_t begin = tape_.position();
    x = is_llama() ? llama_layer(layer, x) : gpt_layer(layer, x);
    if (training_.checkpoint == Checkpoint::full) tape_.recompute(begin, tape_.position());
  }
  write_loss(x);
  Tape tape = tape_.take();
  std::uint64_t layer_bytes = 0;
  for (const Parameter& parameter : tape.parameters)
    if (parameter.name.starts_with("layers.0."))
      layer_bytes += tape.values[parameter.value].bytes();
  tape.largest_unit_bytes = std::max(largest_unit_, layer_bytes);
  return tape;
}

}  // namespace ebb::plan
