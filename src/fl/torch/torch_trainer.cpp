// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/torch_trainer.h"

#include <algorithm>
#include <cmath>

#include "fl/random.h"
#include "fl/torch/card_kernels.h"
#include "fl/torch/failures.h"
#include "fl/torch/local_training.h"

namespace ebb::fl {
namespace {

/// Batches on the host are filled up to a multiple of this with samples that do not count: oneDNN
/// compiles and keeps kernels for every size that it meets.
constexpr std::size_t kWholeRows = 8;

std::size_t filled_up(std::size_t count) {
  return (count + kWholeRows - 1) / kWholeRows * kWholeRows;
}

}  // namespace

base::Result<std::unique_ptr<TorchTrainer>> TorchTrainer::create(
    const plan::Network& network, std::shared_ptr<const DataSet> data, Backend backend,
    const CardUse& use) {
  auto shape = shape_of(network);
  if (!shape) return shape.error();
  const auto device = use_backend(backend);
  if (!device) return device.error();
  return without_exceptions([&]() -> base::Result<std::unique_ptr<TorchTrainer>> {
    return std::unique_ptr<TorchTrainer>(
        new TorchTrainer(network, std::move(*shape), std::move(data), backend, *device, use));
  });
}

TorchTrainer::TorchTrainer(plan::Network network, NetworkShape shape,
                           std::shared_ptr<const DataSet> data, Backend backend, at::Device device,
                           const CardUse& use)
    : network_(std::move(network)),
      shape_(std::move(shape)),
      data_(std::move(data)),
      backend_(name_of(backend)),
      device_(device),
      together_(device.is_cpu() ? 1 : use.clients),
      pictures_(*data_, at::kCPU),
      side_by_side_(network_, shape_, *data_, device_, use) {}

std::string TorchTrainer::kernels() const {
  if (device_.is_cpu()) return {};
  return CardKernels::of(device_) != nullptr ? "nvrtc" : "libtorch";
}

std::shared_ptr<float[]> TorchTrainer::memory_of_a_model() const {
  if (device_.is_cpu()) return Trainer::memory_of_a_model();
  try {
    const at::Tensor pinned = at::zeros({static_cast<std::int64_t>(shape_.elements)},
                                        at::TensorOptions().dtype(at::kFloat).pinned_memory(true));
    return {pinned.data_ptr<float>(), [pinned](float*) {}};
  } catch (const std::exception&) {
    return Trainer::memory_of_a_model();
  }
}

void TorchTrainer::initialise(std::uint64_t seed, std::span<float> weights) {
  for (std::size_t i = 0; i < shape_.parameters.size(); ++i) {
    const ParameterShape& parameter = shape_.parameters[i];
    const std::span<float> values = weights.subspan(parameter.offset, parameter.elements);
    if (parameter.kind == ParameterShape::Kind::scale) {
      std::fill(values.begin(), values.end(), 1.0F);
    } else if (parameter.kind == ParameterShape::Kind::shift) {
      std::fill(values.begin(), values.end(), 0.0F);
    } else {
      // Kaiming-uniform with a = sqrt 5 comes to this bound, for weights as for biases.
      const double bound = 1 / std::sqrt(static_cast<double>(parameter.fan_in));
      Random random(seed, Purpose::initial_weights, 0, static_cast<std::uint32_t>(i));
      for (float& value : values)
        value = static_cast<float>(random.uniform(-bound, bound));
    }
  }
}

TorchTrainer::Slot& TorchTrainer::slot_at(std::uint32_t index) {
  const base::Lock lock(mutex_);
  if (slots_.size() <= index) slots_.resize(index + 1);
  if (!slots_[index]) slots_[index] = std::make_unique<Slot>();
  Slot& slot = *slots_[index];
  if (!slot.network) slot.network = std::make_unique<BatchedNetwork>(network_, shape_, 1, device_);
  return slot;
}

void TorchTrainer::drop_network(std::uint32_t index) {
  const base::Lock lock(mutex_);
  if (index < slots_.size() && slots_[index]) slots_[index]->network.reset();
}

at::Tensor TorchTrainer::on_host(Slot& slot, std::size_t rows) const {
  return at::from_blob(
      slot.pictures.data(),
      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(data_->picture.channels),
       static_cast<std::int64_t>(data_->picture.height),
       static_cast<std::int64_t>(data_->picture.width)},
      at::kFloat);
}

base::Result<LocalResult> TorchTrainer::train(std::uint32_t slot, std::span<const float> global,
                                              const LocalTask& task, std::span<float> weights) {
  if (!device_.is_cpu()) return train_on_card(global, task, weights);
  auto result = without_exceptions([&] { return train_on(slot_at(slot), global, task, weights); });
  // What was half done must not take part in another try.
  if (!result) drop_network(slot);
  return result;
}

base::Result<LocalResult> TorchTrainer::train_on_card(std::span<const float> global,
                                                      const LocalTask& task,
                                                      std::span<float> weights) {
  LocalResult result;
  const auto fetch = [&](std::span<const LocalResult> results, UpdateGroup& updates) {
    result = results.front();
    const auto trained = updates.fetch(0);
    if (!trained) return base::Status(trained.error());
    std::copy(trained->begin(), trained->end(), weights.begin());
    return base::Status();
  };
  const auto done = train_together(global, std::span(&task, 1), fetch, nullptr);
  if (!done) return done.error();
  return result;
}

at::Tensor TorchTrainer::backward(Slot& slot, std::span<const std::uint32_t> samples, float share,
                                  Random& random, const Dropout& dropout) const {
  const std::size_t rows = filled_up(samples.size());
  slot.labels.assign(rows, 0);
  slot.shares.assign(rows, 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    slot.labels[i] = data_->train.labels[samples[i]];
    slot.shares[i] = share;
  }
  pictures_.fill_augmented(samples, random, slot.pictures.data());
  const auto count = static_cast<std::int64_t>(rows);
  const at::Tensor labels = at::from_blob(slot.labels.data(), {count}, at::kLong);
  const at::Tensor shares = at::from_blob(slot.shares.data(), {count}, at::kFloat);
  const at::Tensor losses =
      losses_of(slot.network->forward(on_host(slot, rows).unsqueeze(0), &dropout), labels);
  losses.flatten().dot(shares).backward();
  return losses;
}

base::Result<LocalResult> TorchTrainer::train_on(Slot& slot, std::span<const float> global,
                                                 const LocalTask& task, std::span<float> weights) {
  BatchedNetwork& network = *slot.network;
  network.load(global);
  Random random(task.seed, Purpose::augmentation, task.round, task.client);
  LossTally tally;
  Dropout dropout(shape_, std::span(&task, 1), device_);
  slot.make_room(filled_up(task.batch) * pictures_.floats_each());
  for (std::size_t step = 0; step < steps_of(task); ++step) {
    const std::span<const std::uint32_t> samples = batch_of(task, step);
    dropout.begin(step);
    const at::Tensor losses =
        backward(slot, samples, 1.0F / static_cast<float>(samples.size()), random, dropout);
    network.step(task.lr, task.proximal);
    if (!task.correction.empty())
      network.follow(task.lr, at::from_blob(const_cast<float*>(task.correction.data()),
                                            {1, static_cast<std::int64_t>(task.correction.size())},
                                            at::kFloat));
    tally.add(losses.data_ptr<float>(), samples.size());
  }
  if (!network.finite()[0].item<bool>()) return diverged(task);
  network.store(
      0, at::from_blob(weights.data(), {static_cast<std::int64_t>(weights.size())}, at::kFloat));
  return tally.result();
}

base::Status TorchTrainer::gradient(std::uint32_t slot, std::span<const float> weights,
                                    const LocalTask& task, std::span<float> into) {
  if (!device_.is_cpu()) return Trainer::gradient(slot, weights, task, into);
  auto done = without_exceptions([&] { return gradient_on(slot_at(slot), weights, task, into); });
  if (!done) drop_network(slot);
  return done;
}

base::Status TorchTrainer::gradient_on(Slot& slot, std::span<const float> weights,
                                       const LocalTask& task, std::span<float> into) {
  const LocalTask pass = first_pass_of(task);
  slot.network->load(weights);
  Random random(pass.seed, Purpose::augmentation, pass.round, pass.client);
  Dropout dropout(shape_, std::span(&pass, 1), device_);
  slot.make_room(filled_up(pass.batch) * pictures_.floats_each());
  // Gradients of batches add up until they are taken.
  const float share = 1.0F / static_cast<float>(std::max<std::size_t>(pass.order.size(), 1));
  for (std::size_t step = 0; step < steps_of(pass); ++step) {
    dropout.begin(step);
    backward(slot, batch_of(pass, step), share, random, dropout);
  }
  slot.network->gradient(
      0, at::from_blob(into.data(), {static_cast<std::int64_t>(into.size())}, at::kFloat));
  slot.network->forget_gradients();
  return {};
}

base::Result<Evaluation> TorchTrainer::evaluate(std::uint32_t slot, std::span<const float> weights,
                                                const Split& split,
                                                std::span<const std::uint32_t> samples) {
  return without_exceptions([&]() -> base::Result<Evaluation> {
    if (!device_.is_cpu()) return side_by_side_.evaluate(weights, split, samples);
    return evaluate_on(slot_at(slot), weights, split, samples);
  });
}

Evaluation TorchTrainer::evaluate_on(Slot& slot, std::span<const float> weights, const Split& split,
                                     std::span<const std::uint32_t> samples) {
  const at::NoGradGuard guard;
  slot.network->load(weights);
  slot.make_room(filled_up(kEvaluationBatch) * pictures_.floats_each());
  Evaluation evaluation(data_->classes);
  for (std::size_t first = 0; first < samples.size(); first += kEvaluationBatch) {
    const auto batch = samples.subspan(first, std::min(kEvaluationBatch, samples.size() - first));
    const std::size_t rows = filled_up(batch.size());
    pictures_.fill(split, batch, slot.pictures.data());
    slot.labels.assign(rows, 0);
    for (std::size_t i = 0; i < batch.size(); ++i)
      slot.labels[i] = split.labels[batch[i]];
    const at::Tensor labels =
        at::from_blob(slot.labels.data(), {static_cast<std::int64_t>(rows)}, at::kLong);
    const at::Tensor logits = slot.network->forward(on_host(slot, rows).unsqueeze(0));
    const at::Tensor losses = losses_of(logits, labels);
    const at::Tensor answers = logits.argmax(2);
    const float* loss = losses.data_ptr<float>();
    const std::int64_t* answer = answers.data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      evaluation.loss_sum += static_cast<double>(loss[i]);
      ++evaluation.confusion[static_cast<std::size_t>(slot.labels[i] * data_->classes + answer[i])];
    }
    evaluation.samples += batch.size();
  }
  return evaluation;
}

base::Status TorchTrainer::train_together(std::span<const float> global,
                                          std::span<const LocalTask> tasks, const Trained& trained,
                                          Corrections* corrections) {
  return without_exceptions(
      [&] { return side_by_side_.train(global, tasks, trained, corrections); });
}

void TorchTrainer::release(std::uint32_t first) {
  const base::Lock lock(mutex_);
  if (slots_.size() > first) slots_.resize(first);
  if (first == 0 && device_.is_cuda()) empty_device_cache();
}

}  // namespace ebb::fl
