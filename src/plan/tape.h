// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/element_type.h"
#include "plan/part.h"

namespace ebb::plan {

using ValueId = std::uint32_t;

/// One tensor as an operator sees it. Views are values that share a storage.
struct Value {
  std::uint64_t elements = 0;
  ElementType type = ElementType::f32;
  std::uint32_t storage = 0;
  bool needs_grad = false;

  std::uint64_t bytes() const { return elements * bytes_of(type); }
};

/// The memory behind one or more values.
struct Storage {
  std::uint64_t bytes = 0;
  Part part = Part::temporaries;
  bool persistent = false;  ///< there before the step and after it: weights, inputs
  bool held = false;        ///< until the forward pass ends: autocast's cache, a caller's variable
  std::uint32_t last_use = 0;  ///< the last node of the forward pass that touches it
};

/// A weight. `last` and `before_last` are its last two dimensions (1 where it has fewer than two):
/// what optimizers that factorise their state look at.
struct Parameter {
  std::string name;
  ValueId value = 0;
  std::uint64_t last = 1;
  std::uint64_t before_last = 1;
};

/// The gradient that an operator's backward pass makes for one of its inputs.
struct Gradient {
  std::uint32_t input = 0;     ///< which input of the node
  std::uint64_t elements = 0;  ///< as computed; then summed to the input's size where they differ
  ElementType type = ElementType::f32;  ///< as computed; then cast to the input's type
  bool shares = false;                  ///< nothing is computed: it is the output's gradient itself
  std::uint64_t scratch = 0;            ///< bytes that live while this gradient is computed
};

/// One operator: what it makes, what it keeps for the backward pass, what the backward pass makes.
struct Node {
  const char* name = "";
  Part part = Part::temporaries;
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  std::vector<ValueId> saved = {};
  std::vector<Gradient> gradients = {};  ///< in the order in which they are computed
  std::vector<std::uint64_t> forward_scratch =
      {};  ///< bytes of tensors that live inside the operator
  std::vector<std::uint64_t> backward_scratch = {};
};

/// Nodes [begin, end) whose results are thrown away in the forward pass and computed again in the
/// backward pass.
struct Segment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// One training step's forward pass as the list of its operators, in order; the backward pass is
/// the same list read backwards. Data only: see TapeWriter and Rehearsal.
struct Tape {
  std::vector<Value> values;
  std::vector<Storage> storages;
  std::vector<Parameter> parameters;
  std::vector<ValueId> buffers;  ///< persistent and no parameter: constants of the model
  std::vector<ValueId> inputs;
  std::vector<Node> nodes;
  std::vector<Segment> segments;         ///< in order, without overlap
  std::uint32_t loss_begin = 0;          ///< the first node of the output layer and the loss
  std::uint64_t largest_unit_bytes = 0;  ///< of the weights of one layer, what sharding gathers
  ValueId loss = 0;

  std::uint64_t parameter_count() const;
  std::uint64_t trainable_count() const;
};

}  // namespace ebb::plan
