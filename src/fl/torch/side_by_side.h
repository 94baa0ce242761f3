// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "fl/card_use.h"
#include "fl/network_shape.h"
#include "fl/torch/batched_network.h"
#include "fl/torch/device_split.h"
#include "fl/torch/local_steps.h"
#include "fl/torch/pictures.h"
#include "fl/torch/prefetch.h"
#include "fl/trainer.h"

namespace ebb::fl {

/// Training and evaluation as a card likes them: many clients or pictures at a time, everything on
/// the device, and nothing that waits for it before the end. On any device; made for cards. What
/// libtorch throws passes through. Thread-safe. What it is made from outlives it.
class SideBySide {
 public:
  SideBySide(const plan::Network& network, const NetworkShape& shape, const DataSet& data,
             at::Device device, const CardUse& use);

  /// As Trainer::train_together.
  base::Status train(std::span<const float> global, std::span<const LocalTask> tasks,
                     const Trainer::Trained& trained, Corrections* corrections = nullptr) const;

  /// As Trainer::evaluate. Losses are added up as whole numbers, so that the order of samples and
  /// batches does not matter; one counts no more than 2^16.
  Evaluation evaluate(std::span<const float> weights, const Split& split,
                      std::span<const std::uint32_t> samples) const;
  std::size_t evaluated_together() const { return evaluated_; }
  void evaluate_together(std::size_t pictures) { evaluated_ = pictures; }
  /// As Trainer::evaluate_fewer.
  std::size_t evaluate_fewer();
  /// As Trainer::lines.
  std::vector<std::string> lines() const EBB_EXCLUDES(mutex_);

 private:
  /// How some clients go through their samples side by side.
  struct Way {
    Stretch::Share share = Stretch::Share::of_batch;
    double lr = 0;                             ///< as BatchedNetwork::forward has it
    Tallies* tallies = nullptr;                ///< of the losses
    std::function<void(std::size_t)> moves{};  ///< what a step's gradients do; nothing: they add up
  };
  /// Null where the device holds the split, and where batches are gathered as they are needed.
  std::unique_ptr<Prefetch> prefetch(const DeviceSplit& split, std::size_t size, std::size_t count,
                                     Prefetch::Samples samples) const EBB_EXCLUDES(mutex_);
  void walk(const BatchedNetwork& network, std::span<const LocalTask> tasks, const Way& way) const;

  /// What the clients' steps add to their gradients, [clients, weights]; undefined where that is
  /// nothing.
  at::Tensor directions_of(Corrections* corrections, std::int64_t clients) const;
  /// Has corrections learn the gradients at what the network has been given.
  base::Status learn(BatchedNetwork& network, std::span<const LocalTask> tasks,
                     Corrections& corrections) const;
  /// As long as models, which a card reads and writes by itself.
  at::Tensor rows_on_host(std::size_t count) const;

  const plan::Network& network_;
  const NetworkShape& shape_;
  const DataSet& data_;
  const at::Device device_;
  std::atomic<std::size_t> evaluated_;  ///< pictures at a time
  const Pictures pictures_;
  const DeviceSplit train_;
  const DeviceSplit test_;
  const std::size_t ahead_;  ///< batches that have room on their way
  mutable base::Mutex mutex_;
  mutable std::vector<std::string> lines_ EBB_GUARDED_BY(mutex_);
  mutable bool said_ EBB_GUARDED_BY(mutex_) = false;  ///< that there was no room for them
};

}  // namespace ebb::fl
