// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/local_steps.h"

#include <algorithm>
#include <utility>

#include "fl/torch/device_split.h"
#include "fl/torch/pictures.h"

namespace ebb::fl {

void samples_of_step(std::span<const LocalTask> tasks, std::size_t width, std::size_t step,
                     std::span<std::uint32_t> samples) {
  std::fill(samples.begin(), samples.end(), 0U);
  for (std::size_t client = 0; client < tasks.size(); ++client) {
    const auto batch = batch_of(tasks[client], step);
    std::copy(batch.begin(), batch.end(),
              samples.begin() + static_cast<std::ptrdiff_t>(client * width));
  }
}

Stretch::Stretch(std::span<const LocalTask> tasks, std::size_t width, bool augments, Share share)
    : tasks_(tasks), width_(width), augments_(augments), share_(share) {
  for (const LocalTask& task : tasks)
    randoms_.emplace_back(task.seed, Purpose::augmentation, task.round, task.client);
}

void Stretch::fill(std::size_t first, std::size_t steps) {
  samples.resize(steps * places());
  shares.assign(steps * places(), 0.0F);
  moves.assign(augments_ ? steps * places() * kMoveNumbers : 0, 0);
  for (std::size_t step = 0; step < steps; ++step) {
    samples_of_step(tasks_, width_, first + step,
                    std::span(samples).subspan(step * places(), places()));
    for (std::size_t client = 0; client < tasks_.size(); ++client) {
      const auto batch = batch_of(tasks_[client], first + step);
      const std::size_t all =
          share_ == Share::of_batch ? batch.size() : tasks_[client].order.size();
      const std::size_t at = step * places() + client * width_;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        shares[at + i] = 1.0F / static_cast<float>(all);
        if (augments_) Move::draw(randoms_[client]).write(moves.data() + (at + i) * kMoveNumbers);
      }
    }
  }
}

void Tallies::add(at::Tensor losses) {
  take(std::exchange(waiting_, std::move(losses)));
}

std::vector<LocalResult> Tallies::results() {
  add(at::Tensor());
  std::vector<LocalResult> results;
  for (const LossTally& tally : tallies_)
    results.push_back(tally.result());
  return results;
}

void Tallies::take(const at::Tensor& losses) {
  if (!losses.defined()) return;
  const at::Tensor here = losses.cpu();
  const float* values = here.data_ptr<float>();
  for (std::int64_t i = 0; i < here.size(0); ++i, ++step_) {
    for (std::size_t client = 0; client < tasks_.size(); ++client, values += here.size(2)) {
      const std::size_t count = batch_of(tasks_[client], step_).size();
      if (count > 0) tallies_[client].add(values, count);
    }
  }
}

at::Tensor those_who_train(std::span<const LocalTask> tasks, std::size_t step, at::Device device) {
  std::vector<float> trains;
  for (const LocalTask& task : tasks)
    trains.push_back(step < steps_of(task) ? 1.0F : 0.0F);
  if (std::find(trains.begin(), trains.end(), 0.0F) == trains.end()) return {};
  return sent(std::span<const float>(trains), device);
}

}  // namespace ebb::fl
