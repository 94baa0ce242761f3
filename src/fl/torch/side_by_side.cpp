// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/side_by_side.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "fl/torch/batched_network.h"
#include "fl/torch/device_updates.h"
#include "fl/torch/local_training.h"

namespace ebb::fl {
namespace {

/// Steps whose samples go to the device at once.
constexpr std::size_t kStepsAtATime = 64;

/// Pictures that are evaluated at a time where memory is short.
constexpr std::size_t kFewestEvaluated = 32;

/// Losses are added up in whole numbers of this.
constexpr double kEvaluatedLossUnit = 0x1p-24;
constexpr double kMostLoss = 0x1p16;

/// What some steps of several clients take: which samples, and their share of the client's loss;
/// places beyond a client's batch have none.
class Stretch {
 public:
  Stretch(std::span<const LocalTask> tasks, std::size_t width, bool augments)
      : tasks_(tasks), width_(width), augments_(augments) {
    for (const LocalTask& task : tasks)
      randoms_.emplace_back(task.seed, Purpose::augmentation, task.round, task.client);
  }

  /// Has to be asked in the order of the steps.
  void fill(std::size_t first, std::size_t steps) {
    samples.assign(steps * places(), 0);
    shares.assign(steps * places(), 0.0F);
    moves.assign(augments_ ? steps * places() * kMoveNumbers : 0, 0);
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t client = 0; client < tasks_.size(); ++client) {
        const auto batch = batch_of(tasks_[client], first + step);
        const std::size_t at = step * places() + client * width_;
        for (std::size_t i = 0; i < batch.size(); ++i) {
          samples[at + i] = batch[i];
          shares[at + i] = 1.0F / static_cast<float>(batch.size());
          if (augments_) Move::draw(randoms_[client]).write(moves.data() + (at + i) * kMoveNumbers);
        }
      }
    }
  }

  std::size_t places() const { return tasks_.size() * width_; }

  std::vector<std::uint32_t> samples;
  std::vector<float> shares;
  std::vector<std::int64_t> moves;

 private:
  const std::span<const LocalTask> tasks_;
  const std::size_t width_;
  const bool augments_;
  std::vector<Random> randoms_;
};

/// What the steps of some clients came to.
class Tallies {
 public:
  Tallies(std::span<const LocalTask> tasks, std::size_t width)
      : tasks_(tasks), width_(width), tallies_(tasks.size()) {}

  /// `losses`: [steps, clients, width] for some steps, on the device. They come to the host when
  /// the next ones are added, so that it waits for no step that has just begun, and the device
  /// holds those of two stretches at the most.
  void add(at::Tensor losses) { take(std::exchange(waiting_, std::move(losses))); }

  std::vector<LocalResult> results() {
    add(at::Tensor());
    std::vector<LocalResult> results;
    for (const LossTally& tally : tallies_)
      results.push_back(tally.result());
    return results;
  }

 private:
  void take(const at::Tensor& losses) {
    if (!losses.defined()) return;
    const at::Tensor here = losses.cpu();
    const float* values = here.data_ptr<float>();
    for (std::int64_t i = 0; i < here.size(0); ++i, ++step_) {
      for (std::size_t client = 0; client < tasks_.size(); ++client, values += width_) {
        const std::size_t count = batch_of(tasks_[client], step_).size();
        if (count > 0) tallies_[client].add(values, count);
      }
    }
  }

  const std::span<const LocalTask> tasks_;
  const std::size_t width_;
  std::vector<LossTally> tallies_;
  std::size_t step_ = 0;
  at::Tensor waiting_;
};

/// 1 for each client that trains in this step, else 0; undefined where all do.
at::Tensor those_who_train(std::span<const LocalTask> tasks, std::size_t step, at::Device device) {
  std::vector<float> trains;
  for (const LocalTask& task : tasks)
    trains.push_back(step < steps_of(task) ? 1.0F : 0.0F);
  if (std::find(trains.begin(), trains.end(), 0.0F) == trains.end()) return {};
  return sent(std::span<const float>(trains), device);
}

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
      test_(data.test, data.picture, device, use.holds_data) {}

base::Status SideBySide::train(std::span<const float> global, std::span<const LocalTask> tasks,
                               const Trainer::Trained& trained) const {
  std::size_t width = 0;
  std::size_t steps = 0;
  for (const LocalTask& task : tasks) {
    width = std::max<std::size_t>(width, task.batch);
    steps = std::max(steps, steps_of(task));
  }
  const auto clients = static_cast<std::int64_t>(tasks.size());
  BatchedNetwork network(network_, shape_, clients, device_);
  network.load(global);
  Dropout dropout(shape_, tasks, device_);
  Stretch stretch(tasks, width, data_.augments);
  const auto places = static_cast<std::int64_t>(stretch.places());
  Tallies tallies(tasks, width);
  const double proximal = tasks.front().proximal;
  // What is pulled back needs the gradient first.
  const double straight = proximal > 0 ? 0 : tasks.front().lr;
  for (std::size_t first = 0; first < steps; first += kStepsAtATime) {
    const std::size_t count = std::min(kStepsAtATime, steps - first);
    stretch.fill(first, count);
    const at::Tensor samples = sent(stretch.samples, device_);
    const at::Tensor shares = sent(stretch.shares, device_);
    const at::Tensor moves = sent(stretch.moves, device_).view({-1, kMoveNumbers});
    std::vector<at::Tensor> seen;
    for (std::size_t step = 0; step < count; ++step) {
      const auto at = static_cast<std::int64_t>(step) * places;
      const auto batch =
          train_.take(std::span(stretch.samples).subspan(step * stretch.places(), stretch.places()),
                      samples.narrow(0, at, places));
      const at::Tensor pictures = pictures_.normalised(
          batch.pixels, data_.augments ? moves.narrow(0, at, places) : at::Tensor());
      dropout.begin(first + step);
      const at::Tensor losses = losses_of(
          network.forward(pictures.unflatten(0, {clients, -1}), &dropout, straight), batch.labels);
      losses.backward(shares.narrow(0, at, places).view({clients, -1}));
      network.step(tasks.front().lr, proximal,
                   proximal > 0 ? those_who_train(tasks, first + step, device_) : at::Tensor());
      seen.push_back(losses.detach());
    }
    tallies.add(at::stack(seen));
  }
  const auto results = tallies.results();
  DeviceUpdates updates(clients, network.loaded(), network.parameters());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (!std::isfinite(updates.largest_move(i))) return diverged(tasks[i]);
  return trained(results, updates);
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
  const at::Tensor there = sent(filled, device_);
  const DeviceSplit& held = &split == &data_.test ? test_ : train_;
  const auto classes = static_cast<std::int64_t>(data_.classes);
  const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
  at::Tensor counts = at::zeros({classes * classes}, options);
  at::Tensor loss = at::zeros({1}, options);
  const at::Tensor ones = at::ones({static_cast<std::int64_t>(rows)}, options);
  for (std::size_t first = 0; first < filled.size(); first += rows) {
    const auto batch = held.take(
        std::span(filled).subspan(first, rows),
        there.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(rows)));
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
