// SPDX-License-Identifier: Apache-2.0
// Operators that are more than element by element: norms, products, attention, pictures, the loss.
#include <utility>

#include "base/bytes.h"
#include "plan/tape_writer.h"

namespace ebb::plan {

using base::round_up;

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

ValueId TapeWriter::flash_attention(ValueId query, ValueId key, ValueId value_,
                                    const AttentionShape& shape) {
  const ValueId q = lowered(query), k = lowered(key), v = lowered(value_);
  const ValueId out =
      new_value(elements(q), type(q), needs_grad(q) || needs_grad(k) || needs_grad(v));
  const std::uint64_t rows = shape.batch * shape.heads * shape.sequence;
  const ValueId log_sum = new_value(rows, ElementType::f32, false);
  const ValueId seed = new_value(2, ElementType::i64, false);
  const ValueId offset = new_value(1, ElementType::i64, false);
  const std::uint64_t padded = shape.batch * shape.heads * round_up(shape.sequence, 128);
  // The row sums, and the query's gradient while it is summed, are f32; where key heads are shared,
  // their gradients are made per query head first.
  std::vector<std::uint64_t> scratch{padded * 4, padded * round_up(shape.head_size, 32) * 4};
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
  const std::uint64_t rows = shape.batch * shape.heads * round_up(shape.sequence, 32);
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
                                const ConvolutionShape& shape) {
  const ValueId w = lowered(weight);
  const ValueId in = lowered(x);
  const ConvolutionWorkspace workspace = workspace_of(shape, type(in));
  Node node{.name = "convolution", .inputs = {in, w}};
  if (bias) node.inputs.push_back(lowered(*bias));
  if (workspace.forward > 0) node.forward_scratch = {workspace.forward};
  const std::uint64_t size = shape.batch * shape.outputs * shape.output_height * shape.output_width;
  const ValueId out = new_value(size, type(in), needs_grad(in) || needs_grad(w));
  node.outputs = {out};
  if (needs_grad(w)) node.saved.push_back(in);
  if (needs_grad(in)) node.saved.push_back(w);
  node.gradients = {{0, elements(in), type(in), false, workspace.input_gradient},
                    {1, elements(w), type(w), false, workspace.weight_gradient}};
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
