// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <span>

#include "fl/trainer.h"

namespace ebb::fl {

/// Loss of each of `logits` [clients, batch, classes]: [clients, batch].
at::Tensor losses_of(const at::Tensor& logits, const at::Tensor& labels);

/// How many steps a client takes.
std::size_t steps_of(const LocalTask& task);
/// The samples of one step, none after the last; batches do not reach from one epoch into the next.
std::span<const std::uint32_t> batch_of(const LocalTask& task, std::size_t step);

/// The first pass over the task's samples, to its end.
LocalTask first_pass_of(const LocalTask& task);

/// Code::bad_input: the weights are no numbers any more.
base::Error diverged(const LocalTask& task);

/// Adds the losses of one client's batches to what its training comes to.
class LossTally {
 public:
  void add(const float* losses, std::size_t count);
  LocalResult result() const;

 private:
  double sum_ = 0;
  double squares_ = 0;
  double last_ = 0;
  std::size_t samples_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace ebb::fl
