// SPDX-License-Identifier: Apache-2.0
#include "plan/tape_writer.h"

#include <algorithm>
#include <utility>

namespace ebb::plan {

std::uint64_t Tape::parameter_count() const {
  std::uint64_t sum = 0;
  for (const Parameter& parameter : parameters)
    sum += values[parameter.value].elements;
  return sum;
}

std::uint64_t Tape::trainable_count() const {
  std::uint64_t sum = 0;
  for (const Parameter& parameter : parameters)
    if (values[parameter.value].needs_grad) sum += values[parameter.value].elements;
  return sum;
}

ValueId TapeWriter::new_value(std::uint64_t elements, ElementType type, bool needs_grad) {
  const auto storage = static_cast<std::uint32_t>(tape_.storages.size());
  tape_.storages.push_back({elements * bytes_of(type), part_, false, false, position()});
  tape_.values.push_back({elements, type, storage, needs_grad});
  return static_cast<ValueId>(tape_.values.size() - 1);
}

ValueId TapeWriter::view_of(ValueId x, std::uint64_t elements) {
  Value view = value(x);
  view.elements = elements;
  tape_.values.push_back(view);
  return static_cast<ValueId>(tape_.values.size() - 1);
}

ValueId TapeWriter::persistent(std::uint64_t elements, ElementType type, Part part,
                               bool needs_grad) {
  const ValueId id = new_value(elements, type, needs_grad);
  Storage& storage = tape_.storages[value(id).storage];
  storage.part = part;
  storage.persistent = true;
  return id;
}

void TapeWriter::push(Node node) {
  node.part = part_;
  for (const ValueId id : node.inputs)
    keep(id);
  for (const ValueId id : node.outputs)
    keep(id);
  // What needs no gradient has no backward pass, and nothing is kept for it.
  const bool differentiable = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [this](ValueId id) { return needs_grad(id); });
  if (!differentiable) {
    node.saved.clear();
    node.gradients.clear();
  }
  std::erase_if(node.gradients,
                [&](const Gradient& gradient) { return !needs_grad(node.inputs[gradient.input]); });
  tape_.nodes.push_back(std::move(node));
}

void TapeWriter::keep(ValueId id) {
  tape_.storages[value(id).storage].last_use = position();
}

void TapeWriter::hold(ValueId id) {
  tape_.storages[value(id).storage].held = true;
}

void TapeWriter::begin_loss() {
  tape_.loss_begin = position();
}

ValueId TapeWriter::parameter(std::string name, ElementType type, std::uint64_t before_last,
                              std::uint64_t last, std::uint64_t others, bool trainable) {
  const ValueId id = persistent(before_last * last * others, type, Part::weights, trainable);
  tape_.parameters.push_back({std::move(name), id, last, before_last});
  return id;
}

ValueId TapeWriter::vector_parameter(std::string name, ElementType type, std::uint64_t elements,
                                     bool trainable) {
  const ValueId id = persistent(elements, type, Part::weights, trainable);
  tape_.parameters.push_back({std::move(name), id, 1, 1});
  return id;
}

ValueId TapeWriter::buffer(std::uint64_t elements, ElementType type) {
  const ValueId id = persistent(elements, type, Part::weights, false);
  tape_.buffers.push_back(id);
  return id;
}

ValueId TapeWriter::input(std::uint64_t elements, ElementType type) {
  const ValueId id = persistent(elements, type, Part::inputs, false);
  tape_.inputs.push_back(id);
  return id;
}

ValueId TapeWriter::made(const char* name, std::uint64_t elements, ElementType type,
                         std::vector<std::uint64_t> scratch) {
  const ValueId out = new_value(elements, type, false);
  push({.name = name, .outputs = {out}, .forward_scratch = std::move(scratch)});
  return out;
}

ValueId TapeWriter::elementwise(const char* name, ValueId x, bool saves_input, bool saves_result,
                                std::vector<std::uint64_t> backward_scratch) {
  const ValueId out = new_value(elements(x), type(x), needs_grad(x));
  Node node{.name = name,
            .inputs = {x},
            .outputs = {out},
            .gradients = {{0, elements(x), type(x)}},
            .backward_scratch = std::move(backward_scratch)};
  if (saves_input) node.saved.push_back(x);
  if (saves_result) node.saved.push_back(out);
  push(std::move(node));
  return out;
}

ValueId TapeWriter::cast(ValueId x, ElementType to) {
  if (type(x) == to) return x;
  const ValueId out = new_value(elements(x), to, needs_grad(x));
  push(
      {.name = "cast", .inputs = {x}, .outputs = {out}, .gradients = {{0, elements(x), to, true}}});
  return out;
}

ValueId TapeWriter::lowered(ValueId x) {
  if (!autocast_ || type(x) == *autocast_) return x;
  const bool cached = tape_.storages[value(x).storage].part == Part::weights && needs_grad(x);
  if (!cached) return cast(x, *autocast_);
  const auto found = weight_casts_.find(x);
  if (found != weight_casts_.end()) return found->second;
  const ValueId out = cast(x, *autocast_);
  hold(out);
  weight_casts_.emplace(x, out);
  return out;
}

ValueId TapeWriter::relayout(ValueId x) {
  const ValueId out = view_of(x, elements(x));
  push({.name = "view", .inputs = {x}, .outputs = {out}, .gradients = {{0, elements(x), type(x)}}});
  return out;
}

ValueId TapeWriter::clone(ValueId x) {
  const ValueId out = new_value(elements(x), type(x), needs_grad(x));
  push({.name = "clone",
        .inputs = {x},
        .outputs = {out},
        .gradients = {{0, elements(x), type(x), true}}});
  return out;
}

std::vector<ValueId> TapeWriter::split(ValueId x, const std::vector<std::uint64_t>& sizes) {
  std::vector<ValueId> views;
  for (const std::uint64_t size : sizes)
    views.push_back(view_of(x, size));
  push(
      {.name = "split", .inputs = {x}, .outputs = views, .gradients = {{0, elements(x), type(x)}}});
  return views;
}

ValueId TapeWriter::add(ValueId a, ValueId b) {
  const std::uint64_t size = std::max(elements(a), elements(b));
  const ElementType to = promoted(type(a), type(b));
  const ValueId out = new_value(size, to, needs_grad(a) || needs_grad(b));
  push({.name = "add",
        .inputs = {a, b},
        .outputs = {out},
        .gradients = {{0, size, to, true}, {1, size, to, true}}});
  return out;
}

ValueId TapeWriter::add_in_place(ValueId a, ValueId b) {
  const ValueId out = view_of(a, elements(a));
  push({.name = "add",
        .inputs = {a, b},
        .outputs = {out},
        .gradients = {{0, elements(a), type(a), true}, {1, elements(a), type(a), true}}});
  return out;
}

ValueId TapeWriter::multiply(ValueId a, ValueId b) {
  const std::uint64_t size = std::max(elements(a), elements(b));
  const ElementType to = promoted(type(a), type(b));
  const ValueId out = new_value(size, to, needs_grad(a) || needs_grad(b));
  Node node{.name = "multiply",
            .inputs = {a, b},
            .outputs = {out},
            .gradients = {{0, size, to}, {1, size, to}}};
  if (needs_grad(a)) node.saved.push_back(b);
  if (needs_grad(b)) node.saved.push_back(a);
  push(std::move(node));
  return out;
}

ValueId TapeWriter::scale(ValueId x) {
  return elementwise("scale", x, false, false);
}

ValueId TapeWriter::shift(ValueId x) {
  const ValueId out = new_value(elements(x), type(x), needs_grad(x));
  push({.name = "shift",
        .inputs = {x},
        .outputs = {out},
        .gradients = {{0, elements(x), type(x), true}}});
  return out;
}

ValueId TapeWriter::power(ValueId x) {
  const ValueId base = raised(x);
  const std::uint64_t bytes = value(base).bytes();
  return elementwise("power", base, true, false, {bytes, bytes});
}

ValueId TapeWriter::mean(ValueId x, std::uint64_t rows) {
  const ValueId out = new_value(rows, type(x), needs_grad(x));
  push({.name = "mean", .inputs = {x}, .outputs = {out}, .gradients = {{0, elements(x), type(x)}}});
  return out;
}

ValueId TapeWriter::reciprocal_root(ValueId x) {
  const std::uint64_t bytes = value(x).bytes();
  return elementwise("rsqrt", x, false, true, {bytes, bytes});
}

ValueId TapeWriter::tanh(ValueId x) {
  return elementwise("tanh", x, false, true);
}

ValueId TapeWriter::activation(const char* name, ValueId x) {
  return elementwise(name, x, true, false);
}

ValueId TapeWriter::relu(ValueId x, bool in_place) {
  if (!in_place) return elementwise("relu", x, false, true);
  const ValueId out = view_of(x, elements(x));
  push({.name = "relu",
        .inputs = {x},
        .outputs = {out},
        .saved = {out},
        .gradients = {{0, elements(x), type(x)}}});
  return out;
}

ValueId TapeWriter::dropout(ValueId x, double probability) {
  if (probability <= 0) return x;
  const ValueId out = new_value(elements(x), type(x), needs_grad(x));
  const ValueId mask = new_value(elements(x), ElementType::boolean, false);
  push({.name = "dropout",
        .inputs = {x},
        .outputs = {out, mask},
        .saved = {mask},
        .gradients = {{0, elements(x), type(x)}}});
  return out;
}

ValueId TapeWriter::layer_norm(ValueId x, std::uint64_t rows, ValueId weight, ValueId bias) {
  const ValueId in = raised(x);
  const ValueId out =
      new_value(elements(in), type(in), needs_grad(in) || needs_grad(weight) || needs_grad(bias));
  const ValueId mean = new_value(rows, ElementType::f32, false);
  const ValueId deviation = new_value(rows, ElementType::f32, false);
  push({.name = "layer_norm",
        .inputs = {in, weight, bias},
        .outputs = {out, mean, deviation},
        .saved = {in, mean, deviation},
        .gradients = {{0, elements(in), type(in)},
                      {1, elements(weight), type(weight)},
                      {2, elements(bias), type(bias)}}});
  return out;
}

ValueId TapeWriter::group_norm(ValueId x, std::uint64_t rows, ValueId weight, ValueId bias) {
  const ValueId out = layer_norm(x, rows, weight, bias);
  tape_.nodes.back().name = "group_norm";
  return out;
}

ValueId TapeWriter::linear(ValueId x, std::uint64_t rows, std::uint64_t outputs, ValueId weight,
                           std::optional<ValueId> bias) {
  const ValueId w = lowered(weight);
  const ValueId in = lowered(x);
  const std::uint64_t size = rows * outputs;
  const bool grad = needs_grad(in) || needs_grad(w);
  Node node{.name = "linear", .inputs = {in, w}};
  if (bias) node.inputs.push_back(lowered(*bias));
  const ValueId out = new_value(size, type(in), grad);
  node.outputs = {out};
  if (needs_grad(w)) node.saved.push_back(in);
  if (needs_grad(in)) node.saved.push_back(w);
  const Gradient of_input{0, elements(in), type(in)};
  const Gradient of_weight{1, elements(w), type(w)};
  if (bias) {
    node.gradients = {of_input, of_weight, {2, size, type(in), true}};
  } else {
    node.gradients = {of_weight, of_input};
  }
  push(std::move(node));
  return out;
}

ValueId TapeWriter::batched_product(ValueId a, ValueId b, std::uint64_t size) {
  const ValueId out = new_value(size, type(a), needs_grad(a) || needs_grad(b));
  Node node{.name = "batched_product",
            .inputs = {a, b},
            .outputs = {out},
            .gradients = {{1, elements(b), type(b)}, {0, elements(a), type(a)}}};
  if (needs_grad(b)) node.saved.push_back(a);
  if (needs_grad(a)) node.saved.push_back(b);
  push(std::move(node));
  return out;
}

ValueId TapeWriter::softmax(ValueId x) {
  const ValueId in = raised(x);
  // Its backward kernel starts from the product of gradient and result, a tensor of its own.
  return elementwise("softmax", in, false, true, {value(in).bytes()});
}

ValueId TapeWriter::safe_softmax(ValueId x, std::uint64_t rows) {
  const ValueId out = softmax(x);
  // The plain softmax, which entries are minus infinity, which rows are only that.
  tape_.nodes.back().name = "safe_softmax";
  tape_.nodes.back().forward_scratch = {value(out).bytes(), elements(x), rows};
  return out;
}

ValueId TapeWriter::rotate_half(ValueId x) {
  const ValueId out = new_value(elements(x), type(x), needs_grad(x));
  const std::uint64_t bytes = value(x).bytes();
  push({.name = "rotate_half",
        .inputs = {x},
        .outputs = {out},
        .gradients = {{0, elements(x), type(x)}},
        .forward_scratch = {bytes / 2},
        .backward_scratch = {bytes}});
  return out;
}

ValueId TapeWriter::repeat(ValueId x, std::uint64_t times) {
  const std::uint64_t size = elements(x) * times;
  const ValueId out = new_value(size, type(x), needs_grad(x));
  push(
      {.name = "repeat", .inputs = {x}, .outputs = {out}, .gradients = {{0, size, type(x), true}}});
  return out;
}

namespace {

constexpr std::uint64_t up_to(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

ValueId TapeWriter::flash_attention(ValueId query, ValueId key, ValueId value_,
                                    const AttentionShape& shape) {
  const ValueId q = lowered(query), k = lowered(key), v = lowered(value_);
  const ValueId out =
      new_value(elements(q), type(q), needs_grad(q) || needs_grad(k) || needs_grad(v));
  const std::uint64_t rows = shape.batch * shape.heads * shape.sequence;
  const ValueId log_sum = new_value(rows, ElementType::f32, false);
  const ValueId seed = new_value(2, ElementType::i64, false);
  const ValueId offset = new_value(1, ElementType::i64, false);
  const std::uint64_t padded = shape.batch * shape.heads * up_to(shape.sequence, 128);
  // The row sums, and the query's gradient while it is summed, are f32; where key heads are shared,
  // their gradients are made per query head first.
  std::vector<std::uint64_t> scratch{padded * 4, padded * up_to(shape.head_size, 32) * 4};
  if (shape.kv_heads != shape.heads) {
    const std::uint64_t expanded = rows * shape.head_size * bytes_of(type(q));
    scratch.insert(scratch.end(), {expanded, expanded});
  }
  push({.name = "flash_attention",
        .inputs = {q, k, v},
        .outputs = {out, log_sum, seed, offset},
        .saved = {q, k, v, out, log_sum, seed, offset},
        .gradients = {{0, elements(q), type(q)},
                      {1, elements(k), type(k)},
                      {2, elements(v), type(v)}},
        .backward_scratch = std::move(scratch)});
  return out;
}

ValueId TapeWriter::efficient_attention(ValueId query, ValueId key, ValueId value_,
                                        const AttentionShape& shape) {
  const ValueId q = lowered(query), k = lowered(key), v = lowered(value_);
  const ValueId out =
      new_value(elements(q), type(q), needs_grad(q) || needs_grad(k) || needs_grad(v));
  const std::uint64_t rows = shape.batch * shape.heads * up_to(shape.sequence, 32);
  const ValueId log_sum = new_value(rows, ElementType::f32, false);
  const ValueId seed = new_value(1, ElementType::i64, false);
  const ValueId offset = new_value(1, ElementType::i64, false);
  push({.name = "efficient_attention",
        .inputs = {q, k, v},
        .outputs = {out, log_sum, seed, offset},
        .saved = {q, k, v, out, log_sum, seed, offset},
        .gradients = {{0, elements(q), type(q)},
                      {1, elements(k), type(k)},
                      {2, elements(v), type(v)}},
        .backward_scratch = {rows * 4}});
  return out;
}

ValueId TapeWriter::embedding(ValueId indices, ValueId table, std::uint64_t rows,
                              std::uint64_t width) {
  const ValueId out = new_value(rows * width, type(table), needs_grad(table));
  push({.name = "embedding",
        .inputs = {indices, table},
        .outputs = {out},
        .saved = {indices},
        .gradients = {{1, elements(table), type(table)}}});
  return out;
}

ValueId TapeWriter::convolution(ValueId x, ValueId weight, std::optional<ValueId> bias,
                                std::uint64_t size) {
  const ValueId w = lowered(weight);
  const ValueId in = lowered(x);
  Node node{.name = "convolution", .inputs = {in, w}};
  if (bias) node.inputs.push_back(lowered(*bias));
  const ValueId out = new_value(size, type(in), needs_grad(in) || needs_grad(w));
  node.outputs = {out};
  if (needs_grad(w)) node.saved.push_back(in);
  if (needs_grad(in)) node.saved.push_back(w);
  node.gradients = {{0, elements(in), type(in)}, {1, elements(w), type(w)}};
  if (bias) node.gradients.push_back({2, elements(*bias), type(in)});
  push(std::move(node));
  return out;
}

ValueId TapeWriter::max_pool(ValueId x, std::uint64_t size) {
  const ValueId out = new_value(size, type(x), needs_grad(x));
  const ValueId indices = new_value(size, ElementType::i64, false);
  push({.name = "max_pool",
        .inputs = {x},
        .outputs = {out, indices},
        .saved = {x, indices},
        .gradients = {{0, elements(x), type(x)}}});
  return out;
}

ValueId TapeWriter::average_pool(ValueId x, std::uint64_t size) {
  const ValueId out = new_value(size, type(x), needs_grad(x));
  // A mean over the whole picture: nothing is kept but its size.
  push({.name = "average_pool",
        .inputs = {x},
        .outputs = {out},
        .gradients = {{0, elements(x), type(x)}}});
  return out;
}

void TapeWriter::cross_entropy(ValueId logits, ValueId targets) {
  const ValueId in = raised(logits);
  const ValueId likelihood = elementwise("log_softmax", in, false, true);
  const ValueId loss = new_value(1, ElementType::f32, needs_grad(in));
  const ValueId total = new_value(1, ElementType::f32, false);
  push({.name = "nll_loss",
        .inputs = {likelihood, targets},
        .outputs = {loss, total},
        .saved = {likelihood, targets, total},
        .gradients = {{0, elements(likelihood), type(likelihood)}}});
  hold(loss);
  tape_.loss = loss;
}

}  // namespace ebb::plan
