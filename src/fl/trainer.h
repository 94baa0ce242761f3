// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/aggregate/update_group.h"
#include "fl/data/data_set.h"
#include "fl/metrics.h"

namespace ebb::fl {

/// The training of one client in one round.
struct LocalTask {
  std::uint32_t client = 0;
  std::uint32_t round = 0;
  /// Samples in the order in which they are visited; `epochs` passes of the same length.
  std::span<const std::uint32_t> order;
  std::uint32_t epochs = 1;
  std::uint64_t steps = 0;  ///< so many of theirs; 0: all
  std::uint32_t batch = 32;
  double lr = 0.01;
  double proximal = 0;                  ///< pull towards the global model; 0: none
  std::uint64_t seed = 0;               ///< of the augmentation
  std::span<const float> correction{};  ///< added to the gradient of each step; none: empty
};

/// The result of a training, besides the weights.
struct LocalResult {
  double loss = 0;       ///< mean over all samples visited
  double loss_rms = 0;   ///< root of the mean squared loss
  double last_loss = 0;  ///< of the last batch
  std::uint64_t steps = 0;
};

/// Gradients that are learned at a time: the host does more with each than fetch it.
inline constexpr std::size_t kLearnedTogether = 4;

/// What trainings side by side go by beside their gradients, and what is learned of them: control
/// variates. What is read passes through the host one model at a time.
class Corrections {
 public:
  virtual ~Corrections() = default;

  /// How many of the trainings these are: the first ones. Others repeat the first one.
  virtual std::size_t size() const = 0;
  /// What each step of the training at `place` adds to its gradient.
  virtual void read(std::size_t place, std::span<float> into) = 0;
  /// Takes gradients of the mean loss at the model that all started from, over the samples of the
  /// first pass, as Trainer::gradient has it: of the trainings from `first` on, one after the
  /// other, kLearnedTogether at most.
  virtual base::Status learn(std::size_t first, std::span<const float> gradients) = 0;
};

/// Trains and evaluates one network. Calls with different slots may run at the same time; each slot
/// has buffers of its own, which it keeps. The data set outlives it.
class Trainer {
 public:
  virtual ~Trainer() = default;

  virtual std::uint64_t parameters() const = 0;
  virtual const std::string& backend() const = 0;

  /// What a card computes with: "nvrtc", kernels of our own beside libtorch's; or "libtorch" alone.
  virtual std::string kernels() const { return {}; }

  /// Memory of the host for a model, from where and to where it is copied fastest.
  virtual std::shared_ptr<float[]> memory_of_a_model() const {
    return std::make_shared<float[]>(parameters());
  }
  /// PyTorch's initialisation (Kaiming-uniform with a = sqrt 5), out of `seed` alone.
  virtual void initialise(std::uint64_t seed, std::span<float> weights) = 0;

  /// Trains, starting from `global`, and writes the new weights to `weights`. Code::bad_input if
  /// they are not finite.
  virtual base::Result<LocalResult> train(std::uint32_t slot, std::span<const float> global,
                                          const LocalTask& task, std::span<float> weights) = 0;

  /// The gradient of the mean loss at `weights` over the samples of the task's first pass, all of
  /// them, as training sees them there. On the host alone: Code::unavailable elsewhere, where
  /// train_together finds it.
  virtual base::Status gradient(std::uint32_t /*slot*/, std::span<const float> /*weights*/,
                                const LocalTask& /*task*/, std::span<float> /*into*/) {
    return base::error(base::Code::unavailable, "no gradients here");
  }

  /// The samples of `split` that `samples` names.
  virtual base::Result<Evaluation> evaluate(std::uint32_t slot, std::span<const float> weights,
                                            const Split& split,
                                            std::span<const std::uint32_t> samples) = 0;

  /// Whether one call of evaluate() is best given all samples that there are: they are then taken
  /// in batches that fill a card, and the weights go there once.
  virtual bool evaluates_at_once() const { return false; }
  /// How many of them are then evaluated at a time; 0 where that does not matter.
  virtual std::size_t evaluated_together() const { return 0; }
  virtual void evaluate_together(std::size_t /*samples*/) {}
  /// Evaluates half as many samples at a time from now on; how many that are, 0 if no fewer will
  /// do.
  virtual std::size_t evaluate_fewer() { return 0; }

  /// How many clients train_together takes at once; 1 if it trains them one by one.
  virtual std::uint32_t together() const { return 1; }
  /// Takes what came of several trainings, in their order. `updates` is valid during the call.
  using Trained =
      std::function<base::Status(std::span<const LocalResult> results, UpdateGroup& updates)>;
  /// The same trainings in one batched network; none has a correction of its own. The host holds
  /// one model at a time at most. Where there are `corrections`, they learn when `trained` is done.
  /// What either fails with is handed on.
  virtual base::Status train_together(std::span<const float> global,
                                      std::span<const LocalTask> tasks, const Trained& trained,
                                      Corrections* corrections) = 0;

  /// Frees the buffers of all slots from `first` on.
  virtual void release(std::uint32_t first) = 0;

  /// What is worth saying since the last call, one line each.
  virtual std::vector<std::string> lines() { return {}; }
};

}  // namespace ebb::fl
