// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>

#include "plan/convolution_workspace.h"
#include "plan/tape.h"

namespace ebb::plan {

/// Writes a Tape operator by operator, as PyTorch would run them: which result is a new tensor and
/// which a view, what autograd keeps, what autocast casts. docs/plan.md derives each operator.
class TapeWriter {
 public:
  /// With `autocast`, matrix products run in that type and what needs range in f32.
  explicit TapeWriter(std::optional<ElementType> autocast = std::nullopt) : autocast_(autocast) {}

  /// What the next operators belong to.
  void enter(Part part) { part_ = part; }

  // What is there before the step.
  ValueId parameter(std::string name, ElementType type, std::uint64_t before_last,
                    std::uint64_t last, std::uint64_t others = 1, bool trainable = true);
  ValueId vector_parameter(std::string name, ElementType type, std::uint64_t elements,
                           bool trainable = true);
  ValueId buffer(std::uint64_t elements, ElementType type);
  ValueId input(std::uint64_t elements, ElementType type);

  // Operators.
  /// A tensor made from no other, e.g. a mask; `scratch` lives while it is made.
  ValueId made(const char* name, std::uint64_t elements, ElementType type,
               std::vector<std::uint64_t> scratch = {});
  ValueId cast(ValueId x, ElementType type);
  /// A view; where the layout changes, its gradient is a copy.
  ValueId relayout(ValueId x);
  ValueId clone(ValueId x);
  std::vector<ValueId> split(ValueId x, const std::vector<std::uint64_t>& elements);
  ValueId add(ValueId a, ValueId b);
  /// The sum is written over `a`.
  ValueId add_in_place(ValueId a, ValueId b);
  ValueId multiply(ValueId a, ValueId b);
  /// Times a number.
  ValueId scale(ValueId x);
  /// Plus a number.
  ValueId shift(ValueId x);
  ValueId power(ValueId x);
  ValueId mean(ValueId x, std::uint64_t rows);
  ValueId reciprocal_root(ValueId x);
  ValueId tanh(ValueId x);
  /// Keeps its input (silu, gelu).
  ValueId activation(const char* name, ValueId x);
  /// Keeps its result, which is written over its input where `in_place`.
  ValueId relu(ValueId x, bool in_place = false);
  ValueId dropout(ValueId x, double probability);
  ValueId layer_norm(ValueId x, std::uint64_t rows, ValueId weight, ValueId bias);
  ValueId group_norm(ValueId x, std::uint64_t rows, ValueId weight, ValueId bias);
  /// x times a weight of `outputs` columns, plus a bias where there is one.
  ValueId linear(ValueId x, std::uint64_t rows, std::uint64_t outputs, ValueId weight,
                 std::optional<ValueId> bias = std::nullopt);
  ValueId batched_product(ValueId a, ValueId b, std::uint64_t elements);
  ValueId softmax(ValueId x);
  /// The softmax of PyTorch's own unfused attention, which knows rows without a key.
  ValueId safe_softmax(ValueId x, std::uint64_t rows);
  ValueId rotate_half(ValueId x);
  /// Each key head for each of its query heads.
  ValueId repeat(ValueId x, std::uint64_t times);
  struct AttentionShape {
    std::uint64_t batch = 0, heads = 0, kv_heads = 0, sequence = 0, head_size = 0;
  };
  ValueId flash_attention(ValueId q, ValueId k, ValueId v, const AttentionShape& shape);
  ValueId efficient_attention(ValueId q, ValueId k, ValueId v, const AttentionShape& shape);
  ValueId embedding(ValueId indices, ValueId table, std::uint64_t rows, std::uint64_t width);
  ValueId convolution(ValueId x, ValueId weight, std::optional<ValueId> bias,
                      const ConvolutionShape& shape);
  ValueId max_pool(ValueId x, std::uint64_t elements);
  ValueId average_pool(ValueId x, std::uint64_t elements);
  /// The mean cross entropy of logits; ends the tape.
  void cross_entropy(ValueId logits, ValueId targets);

  // The tape itself.
  /// The value's memory stays until here although no operator uses it any more: a variable of the
  /// caller does.
  void keep(ValueId value);
  /// The value's memory stays until the forward pass ends.
  void hold(ValueId value);
  /// What comes now is the output layer and the loss.
  void begin_loss();
  std::uint32_t position() const { return static_cast<std::uint32_t>(tape_.nodes.size()); }
  void recompute(std::uint32_t begin, std::uint32_t end) { tape_.segments.push_back({begin, end}); }
  const Value& value(ValueId id) const { return tape_.values[id]; }
  std::uint64_t elements(ValueId id) const { return value(id).elements; }
  ElementType type(ValueId id) const { return value(id).type; }
  /// The type that matrix products run in.
  ElementType compute_type(ValueId x) const { return autocast_ ? *autocast_ : type(x); }
  /// As autocast hands it to a matrix product: cast, where its type differs.
  ValueId lowered(ValueId x);
  Tape take() { return std::move(tape_); }

 private:
  ValueId new_value(std::uint64_t elements, ElementType type, bool needs_grad);
  ValueId view_of(ValueId x, std::uint64_t elements);
  bool needs_grad(ValueId x) const { return value(x).needs_grad; }
  ValueId persistent(std::uint64_t elements, ElementType type, Part part, bool needs_grad);
  ValueId raised(ValueId x) { return autocast_ ? cast(x, ElementType::f32) : x; }
  void push(Node node);
  /// An operator with one input and one result of the same size.
  ValueId elementwise(const char* name, ValueId x, bool saves_input, bool saves_result,
                      std::vector<std::uint64_t> backward_scratch = {});

  std::optional<ElementType> autocast_;
  Part part_ = Part::residual;
  Tape tape_;
  std::unordered_map<ValueId, ValueId> weight_casts_;  ///< autocast casts a weight once a pass
};

}  // namespace ebb::plan
