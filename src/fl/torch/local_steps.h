// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "fl/random.h"
#include "fl/torch/local_training.h"
#include "fl/trainer.h"

namespace ebb::fl {

/// Steps whose samples go to the device at once.
inline constexpr std::size_t kStepsAtATime = 64;

/// Which samples several clients take in a step, `width` places for each; places beyond a client's
/// batch have the first sample.
void samples_of_step(std::span<const LocalTask> tasks, std::size_t width, std::size_t step,
                     std::span<std::uint32_t> samples);

/// What some steps of several clients take: which samples, how these are moved, and their share of
/// the client's loss; places beyond a client's batch have none. `width` places for each client. The
/// tasks outlive it.
class Stretch {
 public:
  /// A loss is the mean of its batch, or the batches of a pass add up to the mean over all of them.
  enum class Share : std::uint8_t { of_batch, of_pass };

  Stretch(std::span<const LocalTask> tasks, std::size_t width, bool augments, Share share);

  /// Has to be asked in the order of the steps.
  void fill(std::size_t first, std::size_t steps);

  std::size_t places() const { return tasks_.size() * width_; }

  std::vector<std::uint32_t> samples;
  std::vector<float> shares;
  std::vector<std::int64_t> moves;

 private:
  const std::span<const LocalTask> tasks_;
  const std::size_t width_;
  const bool augments_;
  const Share share_;
  std::vector<Random> randoms_;
};

/// What the steps of some clients came to. The tasks outlive it.
class Tallies {
 public:
  explicit Tallies(std::span<const LocalTask> tasks) : tasks_(tasks), tallies_(tasks.size()) {}

  /// `losses`: [steps, clients, places of each] for some steps, on the device. They come to the
  /// host when the next ones are added, so that it waits for no step that has just begun, and the
  /// device holds those of two stretches at the most.
  void add(at::Tensor losses);

  std::vector<LocalResult> results();

 private:
  void take(const at::Tensor& losses);

  const std::span<const LocalTask> tasks_;
  std::vector<LossTally> tallies_;
  std::size_t step_ = 0;
  at::Tensor waiting_;
};

/// 1 for each client that trains in this step, else 0; undefined where all do.
at::Tensor those_who_train(std::span<const LocalTask> tasks, std::size_t step, at::Device device);

}  // namespace ebb::fl
