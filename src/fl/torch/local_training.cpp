// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/local_training.h"

#include <algorithm>
#include <cmath>

namespace ebb::fl {
namespace {

std::size_t steps_of_an_epoch(const LocalTask& task) {
  const std::size_t each = task.order.size() / task.epochs;
  return (each + task.batch - 1) / task.batch;
}

}  // namespace

at::Tensor losses_of(const at::Tensor& logits, const at::Tensor& labels) {
  return at::cross_entropy_loss(logits.flatten(0, 1), labels.flatten(), {}, at::Reduction::None)
      .view({logits.size(0), logits.size(1)});
}

std::size_t steps_of(const LocalTask& task) {
  const std::size_t all = steps_of_an_epoch(task) * task.epochs;
  return task.steps > 0 ? std::min<std::size_t>(task.steps, all) : all;
}

std::span<const std::uint32_t> batch_of(const LocalTask& task, std::size_t step) {
  if (step >= steps_of(task)) return {};
  const std::size_t each = task.order.size() / task.epochs;
  const std::size_t steps = steps_of_an_epoch(task);
  const std::size_t first = step % steps * task.batch;
  return task.order.subspan(step / steps * each + first,
                            std::min<std::size_t>(task.batch, each - first));
}

LocalTask first_pass_of(const LocalTask& task) {
  LocalTask pass = task;
  pass.order = task.order.first(task.order.size() / task.epochs);
  pass.epochs = 1;
  pass.steps = 0;
  return pass;
}

base::Error diverged(const LocalTask& task) {
  return base::error(base::Code::bad_input,
                     "client %u diverged in round %u: its weights are no numbers any more, "
                     "expected a smaller learning rate than %g",
                     task.client, task.round, task.lr);
}

void LossTally::add(const float* losses, std::size_t count) {
  double batch = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double loss = losses[i];
    batch += loss;
    squares_ += loss * loss;
  }
  sum_ += batch;
  samples_ += count;
  last_ = batch / static_cast<double>(count);
  ++steps_;
}

LocalResult LossTally::result() const {
  const double samples = static_cast<double>(std::max<std::size_t>(samples_, 1));
  return {.loss = sum_ / samples,
          .loss_rms = std::sqrt(squares_ / samples),
          .last_loss = last_,
          .steps = steps_};
}

}  // namespace ebb::fl
