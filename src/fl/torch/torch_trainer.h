// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "fl/network_shape.h"
#include "fl/torch/backend.h"
#include "fl/torch/batched_network.h"
#include "fl/torch/pictures.h"
#include "fl/torch/side_by_side.h"
#include "fl/trainer.h"
#include "plan/network.h"

namespace ebb::fl {

/// Training on libtorch, with a network per slot.
class TorchTrainer final : public Trainer {
 public:
  /// Pictures that the host evaluates at a time: more would only take memory.
  static constexpr std::size_t kEvaluationBatch = 32;

  /// `use`: of a card, and how many clients train_together takes. Fails as shape_of and use_backend
  /// do.
  static base::Result<std::unique_ptr<TorchTrainer>> create(const plan::Network& network,
                                                            std::shared_ptr<const DataSet> data,
                                                            Backend backend, const CardUse& use);

  std::uint64_t parameters() const override { return shape_.elements; }
  const std::string& backend() const override { return backend_; }
  std::string kernels() const override;
  std::shared_ptr<float[]> memory_of_a_model() const override;
  void initialise(std::uint64_t seed, std::span<float> weights) override;
  base::Result<LocalResult> train(std::uint32_t slot, std::span<const float> global,
                                  const LocalTask& task, std::span<float> weights) override;
  base::Status gradient(std::uint32_t slot, std::span<const float> weights, const LocalTask& task,
                        std::span<float> into) override;
  base::Result<Evaluation> evaluate(std::uint32_t slot, std::span<const float> weights,
                                    const Split& split,
                                    std::span<const std::uint32_t> samples) override;
  bool evaluates_at_once() const override { return !device_.is_cpu(); }
  std::size_t evaluated_together() const override {
    return device_.is_cpu() ? 0 : side_by_side_.evaluated_together();
  }
  void evaluate_together(std::size_t samples) override { side_by_side_.evaluate_together(samples); }
  std::size_t evaluate_fewer() override {
    return device_.is_cpu() ? 0 : side_by_side_.evaluate_fewer();
  }
  std::uint32_t together() const override { return together_; }
  base::Status train_together(std::span<const float> global, std::span<const LocalTask> tasks,
                              const Trained& trained, Corrections* corrections) override;
  void release(std::uint32_t first) override;
  std::vector<std::string> lines() override { return side_by_side_.lines(); }

 private:
  /// What one thread of the host works with.
  struct Slot {
    /// Makes room for at least this many floats of pictures. All of them are initialised, because
    /// the unused ones are computed with, too.
    void make_room(std::size_t floats) {
      if (pictures.size() < floats) pictures.resize(floats);
    }

    std::unique_ptr<BatchedNetwork> network;
    std::vector<float> pictures;
    std::vector<std::int64_t> labels;
    std::vector<float> shares;  ///< of each sample in the loss of its batch
  };

  TorchTrainer(plan::Network network, NetworkShape shape, std::shared_ptr<const DataSet> data,
               Backend backend, at::Device device, const CardUse& use);

  Slot& slot_at(std::uint32_t index) EBB_EXCLUDES(mutex_);
  void drop_network(std::uint32_t index) EBB_EXCLUDES(mutex_);
  base::Result<LocalResult> train_on_card(std::span<const float> global, const LocalTask& task,
                                          std::span<float> weights);
  // What libtorch throws passes through these.
  base::Result<LocalResult> train_on(Slot& slot, std::span<const float> global,
                                     const LocalTask& task, std::span<float> weights);
  /// Leaves the gradients of `samples`, each of which counts `share`; their losses.
  at::Tensor backward(Slot& slot, std::span<const std::uint32_t> samples, float share,
                      Random& random, const Dropout& dropout) const;
  base::Status gradient_on(Slot& slot, std::span<const float> weights, const LocalTask& task,
                           std::span<float> into);
  Evaluation evaluate_on(Slot& slot, std::span<const float> weights, const Split& split,
                         std::span<const std::uint32_t> samples);
  /// The first rows of the slot's pictures.
  at::Tensor on_host(Slot& slot, std::size_t rows) const;

  const plan::Network network_;
  const NetworkShape shape_;
  const std::shared_ptr<const DataSet> data_;
  const std::string backend_;
  const at::Device device_;
  const std::uint32_t together_;
  const Pictures pictures_;
  SideBySide side_by_side_;

  base::Mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::fl
