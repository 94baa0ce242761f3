// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/side_by_side.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "fl/torch/device_updates.h"
#include "fl/torch/failures.h"
#include "fl/torch/local_training.h"

namespace ebb::fl {
namespace {

/// Pictures that are evaluated at a time where memory is short.
constexpr std::size_t kFewestEvaluated = 32;

/// Losses are added up in whole numbers of this.
constexpr double kEvaluatedLossUnit = 0x1p-24;
constexpr double kMostLoss = 0x1p16;

}  // namespace

SideBySide::SideBySide(const plan::Network& network, const NetworkShape& shape, const DataSet& data,
                       at::Device device, const CardUse& use)
    : network_(network),
      shape_(shape),
      data_(data),
      device_(device),
      evaluated_(use.evaluated),
      pictures_(data, device),
      train_(data.train, data.picture, device, use.holds_data),
      test_(data.test, data.picture, device, use.holds_data),
      ahead_(use.ahead) {}

std::unique_ptr<Prefetch> SideBySide::prefetch(const DeviceSplit& split, std::size_t size,
                                               std::size_t count, Prefetch::Samples samples) const {
  if (split.held() || ahead_ == 0 || count == 0) return nullptr;
  try {
    return std::make_unique<Prefetch>(split, Prefetch::Way{size, count, ahead_},
                                      std::move(samples));
  } catch (const std::exception& failure) {
    const base::Lock lock(mutex_);
    if (!std::exchange(said_, true))
      lines_.push_back(
          "no room to prefetch what the GPU trains on: batches are gathered as they are needed, to "
          "the same bits but more slowly (" +
          error_of(failure).message + ")");
    return nullptr;
  }
}

std::vector<std::string> SideBySide::lines() const {
  const base::Lock lock(mutex_);
  return std::exchange(lines_, {});
}

void SideBySide::walk(const BatchedNetwork& network, std::span<const LocalTask> tasks,
                      const Way& way) const {
  std::size_t width = 0;
  std::size_t steps = 0;
  for (const LocalTask& task : tasks) {
    width = std::max<std::size_t>(width, task.batch);
    steps = std::max(steps, steps_of(task));
  }
  const auto clients = static_cast<std::int64_t>(tasks.size());
  const auto ahead = prefetch(train_, width * tasks.size(), steps,
                              [&, width](std::size_t step, std::span<std::uint32_t> samples) {
                                samples_of_step(tasks, width, step, samples);
                              });
  Dropout dropout(shape_, tasks, device_);
  Stretch stretch(tasks, width, data_.augments, way.share);
  const auto places = static_cast<std::int64_t>(stretch.places());
  for (std::size_t first = 0; first < steps; first += kStepsAtATime) {
    const std::size_t count = std::min(kStepsAtATime, steps - first);
    stretch.fill(first, count);
    const at::Tensor samples = train_.held() ? sent(stretch.samples, device_) : at::Tensor();
    const at::Tensor shares = sent(stretch.shares, device_);
    const at::Tensor moves = sent(stretch.moves, device_).view({-1, kMoveNumbers});
    std::vector<at::Tensor> seen;
    for (std::size_t step = 0; step < count; ++step) {
      const auto at = static_cast<std::int64_t>(step) * places;
      const auto batch =
          ahead != nullptr
              ? ahead->next()
              : train_.take(
                    std::span(stretch.samples).subspan(step * stretch.places(), stretch.places()),
                    samples.defined() ? samples.narrow(0, at, places) : samples);
      const at::Tensor pictures = pictures_.normalised(
          batch.pixels, data_.augments ? moves.narrow(0, at, places) : at::Tensor());
      dropout.begin(first + step);
      const at::Tensor losses = losses_of(
          network.forward(pictures.unflatten(0, {clients, -1}), &dropout, way.lr), batch.labels);
      losses.backward(shares.narrow(0, at, places).view({clients, -1}));
      if (way.moves) way.moves(first + step);
      seen.push_back(losses.detach());
    }
    if (way.tallies != nullptr) way.tallies->add(at::stack(seen));
  }
}

base::Status SideBySide::train(std::span<const float> global, std::span<const LocalTask> tasks,
                               const Trainer::Trained& trained, Corrections* corrections) const {
  const auto clients = static_cast<std::int64_t>(tasks.size());
  BatchedNetwork network(network_, shape_, clients, device_);
  network.load(global);
  Tallies tallies(tasks);
  const double lr = tasks.front().lr;
  const double proximal = tasks.front().proximal;
  at::Tensor directions = directions_of(corrections, clients);
  const auto moves = [&](std::size_t step) {
    const bool asks = proximal > 0 || directions.defined();
    const at::Tensor trains = asks ? those_who_train(tasks, step, device_) : at::Tensor();
    network.step(lr, proximal, trains);
    if (!directions.defined()) return;
    // Who is done goes nowhere any more.
    if (trains.defined()) directions.mul_(trains.unsqueeze(1));
    network.follow(lr, directions);
  };
  // What is pulled back needs the gradient first.
  walk(network, tasks,
       {.share = Stretch::Share::of_batch,
        .lr = proximal > 0 ? 0 : lr,
        .tallies = &tallies,
        .moves = moves});
  directions = at::Tensor();
  const auto results = tallies.results();
  {
    DeviceUpdates updates(clients, network.loaded(), network.parameters());
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (!std::isfinite(updates.largest_move(i))) return diverged(tasks[i]);
    if (auto done = trained(results, updates); !done || corrections == nullptr) return done;
  }
  network.load(global);
  return learn(network, tasks, *corrections);
}

at::Tensor SideBySide::directions_of(Corrections* corrections, std::int64_t clients) const {
  if (corrections == nullptr) return {};
  const auto elements = static_cast<std::int64_t>(shape_.elements);
  const at::Tensor row = rows_on_host(1)[0];
  at::Tensor directions =
      at::empty({clients, elements}, at::TensorOptions().dtype(at::kFloat).device(device_));
  for (std::int64_t place = 0; place < clients; ++place) {
    if (static_cast<std::size_t>(place) < corrections->size()) {
      corrections->read(static_cast<std::size_t>(place),
                        {row.data_ptr<float>(), static_cast<std::size_t>(elements)});
      directions[place].copy_(row);
    } else {
      directions[place].copy_(directions[0]);
    }
  }
  return directions;
}

base::Status SideBySide::learn(BatchedNetwork& network, std::span<const LocalTask> tasks,
                               Corrections& corrections) const {
  std::vector<LocalTask> passes;
  for (const LocalTask& task : tasks)
    passes.push_back(first_pass_of(task));
  walk(network, passes, {.share = Stretch::Share::of_pass});
  const std::size_t together = std::min(kLearnedTogether, corrections.size());
  const at::Tensor rows = rows_on_host(together);
  for (std::size_t first = 0; first < corrections.size(); first += together) {
    const std::size_t count = std::min(together, corrections.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      network.gradient(static_cast<std::int64_t>(first + i), rows[static_cast<std::int64_t>(i)]);
    const auto learned =
        corrections.learn(first, {rows.data_ptr<float>(), count * shape_.elements});
    if (!learned) return learned;
  }
  return {};
}

at::Tensor SideBySide::rows_on_host(std::size_t count) const {
  return at::empty({static_cast<std::int64_t>(count), static_cast<std::int64_t>(shape_.elements)},
                   at::TensorOptions().dtype(at::kFloat).pinned_memory(device_.is_cuda()));
}

std::size_t SideBySide::evaluate_fewer() {
  const std::size_t fewer = evaluated_ / 2;
  if (fewer < kFewestEvaluated) return 0;
  evaluated_ = fewer;
  return fewer;
}

Evaluation SideBySide::evaluate(std::span<const float> weights, const Split& split,
                                std::span<const std::uint32_t> samples) const {
  const at::NoGradGuard guard;
  Evaluation evaluation(data_.classes);
  evaluation.samples = samples.size();
  if (samples.empty()) return evaluation;
  BatchedNetwork network(network_, shape_, 1, device_, BatchedNetwork::Use::evaluation);
  network.load(weights);
  // One size for all batches: filled up with samples that do not count.
  const std::size_t rows = std::min(evaluated_.load(), std::bit_ceil(samples.size()));
  std::vector<std::uint32_t> filled(samples.begin(), samples.end());
  filled.resize((samples.size() + rows - 1) / rows * rows, samples.front());
  const DeviceSplit& source = &split == &data_.test ? test_ : train_;
  const at::Tensor there = source.held() ? sent(filled, device_) : at::Tensor();
  const auto ahead = prefetch(source, rows, filled.size() / rows,
                              [&](std::size_t batch, std::span<std::uint32_t> into) {
                                const auto from = std::span(filled).subspan(batch * rows, rows);
                                std::copy(from.begin(), from.end(), into.begin());
                              });
  const auto classes = static_cast<std::int64_t>(data_.classes);
  const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
  at::Tensor counts = at::zeros({classes * classes}, options);
  at::Tensor loss = at::zeros({1}, options);
  const at::Tensor ones = at::ones({static_cast<std::int64_t>(rows)}, options);
  for (std::size_t first = 0; first < filled.size(); first += rows) {
    const auto batch =
        ahead != nullptr
            ? ahead->next()
            : source.take(std::span(filled).subspan(first, rows),
                          there.defined() ? there.narrow(0, static_cast<std::int64_t>(first),
                                                         static_cast<std::int64_t>(rows))
                                          : there);
    const auto count = static_cast<std::int64_t>(std::min(rows, samples.size() - first));
    const at::Tensor logits =
        network.forward(pictures_.normalised(batch.pixels, at::Tensor()).unsqueeze(0));
    const at::Tensor losses = losses_of(logits, batch.labels).flatten().narrow(0, 0, count);
    const at::Tensor cells = batch.labels * classes + logits.argmax(2).flatten();
    counts.scatter_add_(0, cells.narrow(0, 0, count), ones.narrow(0, 0, count));
    loss.add_(losses.to(at::kDouble)
                  .nan_to_num(kMostLoss, kMostLoss)
                  .clamp_max(kMostLoss)
                  .div_(kEvaluatedLossUnit)
                  .round_()
                  .to(at::kLong)
                  .sum());
  }
  const at::Tensor found = at::cat({counts, loss}).cpu();
  const std::int64_t* values = found.data_ptr<std::int64_t>();
  for (std::uint64_t& cell : evaluation.confusion)
    cell = static_cast<std::uint64_t>(*values++);
  evaluation.loss_sum = static_cast<double>(*values) * kEvaluatedLossUnit;
  return evaluation;
}

}  // namespace ebb::fl
