// SPDX-License-Identifier: Apache-2.0
#include "replay/generator/trainer.h"

#include <utility>

namespace ebb::replay::generator {
namespace {

/// What cuBLAS takes once and keeps, on older cards and on newer ones.
constexpr std::uint64_t kLibrary[] = {8519680, 33554432};

}  // namespace

TrainerOptions TrainerOptions::draw(Draws& draws) {
  TrainerOptions options;
  options.states = draws.pick({0, 1, 1, 2, 2, 2});
  options.temporaries = draws.chance(70);
  options.set_to_none = draws.chance(75);
  options.checkpointing = draws.chance(20);
  options.mixed_precision = draws.chance(30);
  return options;
}

Trainer::Trainer(Tape& tape, Draws& draws, Net net, TrainerOptions options)
    : tape_(tape), draws_(draws), net_(std::move(net)), options_(options) {
  gradients_.resize(net_.weights.size());
}

void Trainer::load() {
  for (const std::uint64_t bytes : net_.weights) {
    weights_.push_back(tape_.take(bytes));
  }
}

void Trainer::unload() {
  give_gradients();
  tape_.give(weights_);
  tape_.give(states_);
}

/// The last part ends with the loss and is never computed twice.
void Trainer::divide() {
  parts_.clear();
  std::size_t begin = 0;
  for (std::size_t i = 1; i < kernels_.size() && options_.checkpointing; ++i) {
    if (!kernels_[i].begins_layer) continue;
    parts_.push_back({begin, i});
    begin = i;
  }
  parts_.push_back({begin, kernels_.size()});
}

Trainer::Saved Trainer::run(const Kernel& kernel) {
  if (kernel.weight >= 0) cast(kernel.weight);
  if (options_.library && kernel.weight >= 0) {
    tape_.take(kLibrary[draws_.below(2)]);
    options_.library = false;
  }
  std::optional<Block> workspace;
  Saved saved;
  saved.output = tape_.take(kernel.output);
  if (kernel.workspace != 0) workspace = tape_.take(kernel.workspace);
  if (kernel.beside != 0) saved.beside = tape_.take(kernel.beside);
  if (workspace) tape_.give(*workspace);
  return saved;
}

void Trainer::cast(int weight) {
  const auto at = static_cast<std::size_t>(weight);
  if (!options_.mixed_precision || net_.weights[at] < 65536 || is_cast_[at]) return;
  is_cast_[at] = true;
  casts_.push_back(tape_.take(net_.weights[at] / 2));
}

void Trainer::run_kept(Part part) {
  for (std::size_t i = part.begin; i < part.end; ++i) {
    saved_[i] = run(kernels_[i]);
    if (i > part.begin && !kernels_[i - 1].saved) tape_.give(saved_[i - 1].output);
  }
}

void Trainer::run_forgetting(Part part) {
  std::optional<Block> before;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Saved saved = run(kernels_[i]);
    if (saved.beside) tape_.give(*saved.beside);
    if (before) tape_.give(*before);
    before = saved.output;
  }
  checkpoints_.push_back(*before);
}

void Trainer::forward(std::uint64_t first, std::uint64_t second, bool own_input) {
  kernels_ = net_.kernels(first, second);
  divide();
  if (own_input) input_ = tape_.take(net_.input(first, second));
  saved_.assign(kernels_.size(), {});
  is_cast_.assign(net_.weights.size(), false);
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    run_forgetting(parts_[i]);
  }
  run_kept(parts_.back());
  // A hash table holds them.
  draws_.shuffle(casts_);
  tape_.give(casts_);
}

void Trainer::backward() {
  Block gradient = tape_.take(4);
  for (std::size_t i = parts_.size(); i-- > 0;) {
    if (i + 1 < parts_.size()) {
      tape_.give(checkpoints_.back());
      checkpoints_.pop_back();
      is_cast_.assign(net_.weights.size(), false);
      run_kept(parts_[i]);
      draws_.shuffle(casts_);
      tape_.give(casts_);
    }
    gradient = run_backward(parts_[i], gradient);
  }
  tape_.give(gradient);
  if (input_) tape_.give(*input_);
  input_.reset();
}

Trainer::Block Trainer::run_backward(Part part, Block gradient) {
  for (std::size_t i = part.end; i-- > part.begin;) {
    const Kernel& kernel = kernels_[i];
    std::optional<Block> workspace;
    if (kernel.workspace != 0) workspace = tape_.take(kernel.workspace);
    const Block next = tape_.take(i == 0 ? 4 : kernels_[i - 1].output);
    if (kernel.weight >= 0) make_gradient(kernel.weight);
    if (workspace) tape_.give(*workspace);
    tape_.give(gradient);
    gradient = next;
    if (saved_[i].beside) tape_.give(*saved_[i].beside);
    const bool kept = kernel.saved || i + 1 == part.end;
    if (kept) tape_.give(saved_[i].output);
  }
  return gradient;
}

/// A gradient that is there already takes up the new one.
void Trainer::make_gradient(int weight) {
  const auto at = static_cast<std::size_t>(weight);
  const Block made = tape_.take(net_.weights[at]);
  if (gradients_[at]) {
    tape_.give(made);
  } else {
    gradients_[at] = made;
  }
}

void Trainer::update() {
  if (states_.empty()) {
    for (const std::uint64_t bytes : net_.weights) {
      for (int i = 0; i < options_.states; ++i) {
        states_.push_back(tape_.take(bytes));
      }
    }
  }
  if (!options_.temporaries || options_.states == 0) return;
  std::vector<Block> list;
  for (const std::uint64_t bytes : net_.weights) {
    list.push_back(tape_.take(bytes));
  }
  tape_.give(list);
}

void Trainer::zero_grad() {
  if (options_.set_to_none) give_gradients();
}

void Trainer::give_gradients() {
  for (std::optional<Block>& gradient : gradients_) {
    if (gradient) tape_.give(*gradient);
    gradient.reset();
  }
}

void Trainer::step(std::uint64_t first, std::uint64_t second) {
  forward(first, second);
  backward();
  update();
  zero_grad();
}

Tape::Block Trainer::infer(std::uint64_t first, std::uint64_t second) {
  const std::vector<Kernel> kernels = net_.kernels(first, second);
  is_cast_.assign(net_.weights.size(), false);
  const Block input = tape_.take(net_.input(first, second));
  Block before = input;
  for (std::size_t i = 0; i + 2 < kernels.size(); ++i) {
    const Saved saved = run(kernels[i]);
    if (saved.beside) tape_.give(*saved.beside);
    if (i > 0) tape_.give(before);
    before = saved.output;
  }
  draws_.shuffle(casts_);
  tape_.give(casts_);
  tape_.give(input);
  return before;
}

}  // namespace ebb::replay::generator
