// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/torch_trainer.h"

#include <algorithm>
#include <cmath>

#include "fl/random.h"
#include "fl/torch/backend.h"
#include "fl/torch/failures.h"

namespace ebb::fl {
namespace {

/// Loss of each of `logits` [clients, batch, classes]: [clients, batch].
at::Tensor losses_of(const at::Tensor& logits, const at::Tensor& labels) {
  return at::cross_entropy_loss(logits.flatten(0, 1), labels.flatten(), {}, at::Reduction::None)
      .view({logits.size(0), logits.size(1)});
}

/// Adds the losses of one client's batch to what its training comes to.
class LossTally {
 public:
  void add(const float* losses, std::size_t count) {
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

  LocalResult result() const {
    const double samples = static_cast<double>(std::max<std::size_t>(samples_, 1));
    return {.loss = sum_ / samples,
            .loss_rms = std::sqrt(squares_ / samples),
            .last_loss = last_,
            .steps = steps_};
  }

 private:
  double sum_ = 0;
  double squares_ = 0;
  double last_ = 0;
  std::size_t samples_ = 0;
  std::uint64_t steps_ = 0;
};

/// Batches on the host are filled up to a multiple of this with samples that do not count: oneDNN
/// compiles and keeps kernels for every size that it meets.
constexpr std::size_t kWholeRows = 8;

std::size_t filled_up(std::size_t count) {
  return (count + kWholeRows - 1) / kWholeRows * kWholeRows;
}

base::Error diverged(const LocalTask& task) {
  return base::error(base::Code::bad_input,
                     "client %u diverged in round %u: its weights are no numbers any more, "
                     "expected a smaller learning rate than %g",
                     task.client, task.round, task.lr);
}

/// The samples of one step; batches do not reach from one epoch into the next.
std::span<const std::uint32_t> batch_of(const LocalTask& task, std::size_t step) {
  const std::size_t each = task.order.size() / task.epochs;
  const std::size_t steps = (each + task.batch - 1) / task.batch;
  const std::size_t epoch = step / steps;
  if (epoch >= task.epochs) return {};
  const std::size_t first = step % steps * task.batch;
  return task.order.subspan(epoch * each + first, std::min<std::size_t>(task.batch, each - first));
}

}  // namespace

base::Result<std::unique_ptr<TorchTrainer>> TorchTrainer::create(
    const plan::Network& network, std::shared_ptr<const DataSet> data, const std::string& backend,
    std::uint32_t together) {
  auto shape = shape_of(network);
  if (!shape) return shape.error();
  const auto device = use_backend(backend);
  if (!device) return device.error();
  return without_exceptions([&]() -> base::Result<std::unique_ptr<TorchTrainer>> {
    return std::unique_ptr<TorchTrainer>(
        new TorchTrainer(network, std::move(*shape), std::move(data), backend, *device, together));
  });
}

TorchTrainer::TorchTrainer(plan::Network network, NetworkShape shape,
                           std::shared_ptr<const DataSet> data, std::string backend,
                           at::Device device, std::uint32_t together)
    : network_(std::move(network)),
      shape_(std::move(shape)),
      data_(std::move(data)),
      backend_(std::move(backend)),
      device_(device),
      together_(device.is_cpu() ? 1 : std::max(together, 1U)),
      pictures_(*data_, device) {}

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

at::Tensor TorchTrainer::on_card(std::span<const std::uint32_t> samples, Random& random) const {
  std::vector<Move> moves;
  for (std::size_t i = 0; data_->augments && i < samples.size(); ++i)
    moves.push_back(Move::draw(random));
  const at::Tensor indices = at::from_blob(const_cast<std::uint32_t*>(samples.data()),
                                           {static_cast<std::int64_t>(samples.size())}, at::kInt);
  return pictures_.on_device(indices.to(device_), moves);
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
  auto result = without_exceptions([&] { return train_on(slot_at(slot), global, task, weights); });
  // What was half done must not take part in another try.
  if (!result) drop_network(slot);
  return result;
}

base::Result<LocalResult> TorchTrainer::train_on(Slot& slot, std::span<const float> global,
                                                 const LocalTask& task, std::span<float> weights) {
  BatchedNetwork& network = *slot.network;
  network.load(global);
  Random random(task.seed, Purpose::augmentation, task.round, task.client);
  LossTally tally;
  for (std::size_t step = 0;; ++step) {
    const std::span<const std::uint32_t> samples = batch_of(task, step);
    if (samples.empty()) break;
    const std::size_t rows = device_.is_cpu() ? filled_up(samples.size()) : samples.size();
    slot.labels.assign(rows, 0);
    slot.shares.assign(rows, 0);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      slot.labels[i] = data_->train.labels[samples[i]];
      slot.shares[i] = 1.0F / static_cast<float>(samples.size());
    }
    at::Tensor pictures;
    if (device_.is_cpu()) {
      slot.make_room(filled_up(task.batch) * pictures_.floats_each());
      pictures_.fill_augmented(samples, random, slot.pictures.data());
      pictures = on_host(slot, rows);
    } else {
      pictures = on_card(samples, random);
    }
    const auto count = static_cast<std::int64_t>(rows);
    const at::Tensor labels = at::from_blob(slot.labels.data(), {count}, at::kLong).to(device_);
    const at::Tensor shares = at::from_blob(slot.shares.data(), {count}, at::kFloat).to(device_);
    const at::Tensor losses = losses_of(network.forward(pictures.unsqueeze(0)), labels);
    losses.flatten().dot(shares).backward();
    network.step(task.lr, task.proximal);
    const at::Tensor seen = losses.detach().cpu();
    tally.add(seen.data_ptr<float>(), samples.size());
  }
  if (!network.finite()[0].item<bool>()) return diverged(task);
  network.store(
      0, at::from_blob(weights.data(), {static_cast<std::int64_t>(weights.size())}, at::kFloat));
  return tally.result();
}

base::Result<Evaluation> TorchTrainer::evaluate(std::uint32_t slot, std::span<const float> weights,
                                                const Split& split,
                                                std::span<const std::uint32_t> samples) {
  return without_exceptions([&] { return evaluate_on(slot_at(slot), weights, split, samples); });
}

base::Result<Evaluation> TorchTrainer::evaluate_on(Slot& slot, std::span<const float> weights,
                                                   const Split& split,
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
    const at::Tensor pictures = on_host(slot, rows).to(device_);
    const at::Tensor labels =
        at::from_blob(slot.labels.data(), {static_cast<std::int64_t>(rows)}, at::kLong).to(device_);
    const at::Tensor logits = slot.network->forward(pictures.unsqueeze(0));
    const at::Tensor losses = losses_of(logits, labels).cpu();
    const at::Tensor answers = logits.argmax(2).cpu();
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
                                          std::span<const LocalTask> tasks,
                                          const Trained& trained) {
  return without_exceptions([&] { return train_batched(global, tasks, trained); });
}

base::Status TorchTrainer::train_batched(std::span<const float> global,
                                         std::span<const LocalTask> tasks, const Trained& trained) {
  const auto clients = static_cast<std::int64_t>(tasks.size());
  const std::size_t width =
      std::max_element(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) {
        return a.batch < b.batch;
      })->batch;
  BatchedNetwork network(network_, shape_, clients, device_);
  network.load(global);
  std::vector<Random> randoms;
  for (const LocalTask& task : tasks)
    randoms.emplace_back(task.seed, Purpose::augmentation, task.round, task.client);
  std::vector<LossTally> tallies(tasks.size());

  // All of one step goes to the device at once: which samples, their labels and their share of the
  // client's loss; places beyond a client's batch have none.
  const std::size_t places = tasks.size() * width;
  std::vector<std::int64_t> samples(places);
  std::vector<std::int64_t> labels(places);
  std::vector<float> shares(places);
  std::vector<std::size_t> counts(tasks.size());
  std::vector<Move> moves(data_->augments ? places : 0);
  std::vector<at::Tensor> seen;  // losses stay on the device until the end
  std::vector<std::vector<std::size_t>> seen_counts;
  const auto on_device = [&](auto& values, at::ScalarType type) {
    return at::from_blob(values.data(), {static_cast<std::int64_t>(places)}, type).to(device_);
  };
  for (std::size_t step = 0;; ++step) {
    std::fill(samples.begin(), samples.end(), 0);
    std::fill(labels.begin(), labels.end(), 0);
    std::fill(shares.begin(), shares.end(), 0.0F);
    bool any = false;
    for (std::size_t client = 0; client < tasks.size(); ++client) {
      const auto batch = batch_of(tasks[client], step);
      counts[client] = batch.size();
      any = any || !batch.empty();
      for (std::size_t i = 0; i < batch.size(); ++i) {
        samples[client * width + i] = batch[i];
        if (data_->augments) moves[client * width + i] = Move::draw(randoms[client]);
        labels[client * width + i] = data_->train.labels[batch[i]];
        shares[client * width + i] = 1.0F / static_cast<float>(batch.size());
      }
    }
    if (!any) break;
    const at::Tensor pictures = pictures_.on_device(on_device(samples, at::kLong), moves)
                                    .unflatten(0, {clients, static_cast<std::int64_t>(width)});
    const at::Tensor losses = losses_of(network.forward(pictures), on_device(labels, at::kLong));
    (losses * on_device(shares, at::kFloat).view({clients, -1})).sum().backward();
    network.step(tasks.front().lr, tasks.front().proximal);
    seen.push_back(losses.detach());
    seen_counts.push_back(counts);
  }
  for (std::size_t step = 0; step < seen.size(); ++step) {
    const at::Tensor losses = seen[step].cpu();
    for (std::size_t client = 0; client < tasks.size(); ++client) {
      if (seen_counts[step][client] > 0)
        tallies[client].add(losses.data_ptr<float>() + client * width, seen_counts[step][client]);
    }
  }
  // A card writes into pinned memory by itself, several times as fast.
  const at::Tensor row = at::empty({static_cast<std::int64_t>(shape_.elements)},
                                   at::TensorOptions().pinned_memory(device_.is_cuda()));
  const std::span<const float> weights(row.data_ptr<float>(), shape_.elements);
  const at::Tensor finite = network.finite();
  for (std::size_t client = 0; client < tasks.size(); ++client) {
    const auto place = static_cast<std::int64_t>(client);
    if (!finite[place].item<bool>()) return diverged(tasks[client]);
    network.store(place, row);
    if (auto taken = trained(client, tallies[client].result(), weights); !taken) return taken;
  }
  return {};
}

void TorchTrainer::release(std::uint32_t first) {
  const base::Lock lock(mutex_);
  if (slots_.size() > first) slots_.resize(first);
  if (first == 0 && device_.is_cuda()) empty_device_cache();
}

}  // namespace ebb::fl
