// SPDX-License-Identifier: Apache-2.0
#include "plan/tape_writer.h"

#include <algorithm>
#include <utility>

namespace ebb::plan {

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

}  // namespace ebb::plan
