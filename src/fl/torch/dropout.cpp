// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/dropout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "fl/torch/device_split.h"

namespace ebb::fl {
namespace {

constexpr std::size_t kValuesOfABlock = 8;
constexpr std::uint32_t kAll = 1U << 16U;  ///< as many as 16 bits tell apart

std::int64_t blocks_of(const DropoutShape& layer) {
  return static_cast<std::int64_t>((layer.values + kValuesOfABlock - 1) / kValuesOfABlock);
}

constexpr std::int64_t kLow32 = 0xffffffff;

at::Tensor low(const at::Tensor& product) {
  return product.bitwise_and(kLow32);
}

/// Products of two numbers of 32 bits fill 64: what counts as their sign comes along, and is cut.
at::Tensor high(const at::Tensor& product) {
  return at::bitwise_right_shift(product, 32).bitwise_and_(kLow32);
}

at::Tensor small(const std::vector<std::int64_t>& values, at::Device device) {
  return sent(std::span(values), device).view({-1, 1, 1});
}

}  // namespace

Dropout::Dropout(const NetworkShape& shape, std::span<const LocalTask> tasks, at::Device device)
    : shape_(shape),
      tasks_(tasks),
      device_(device),
      key_(random_key(tasks.front().seed, Purpose::dropout_mask)) {
  if (shape.dropouts.empty()) return;
  std::vector<std::int64_t> rounds;
  std::vector<std::int64_t> clients;
  for (const LocalTask& task : tasks) {
    rounds.push_back(task.round);
    clients.push_back(task.client);
  }
  rounds_ = small(rounds, device);
  clients_ = small(clients, device);
}

std::uint32_t Dropout::threshold(std::size_t layer) const {
  // One in 2^16 is kept at least.
  return std::min(static_cast<std::uint32_t>(std::lround(shape_.dropouts[layer].rate * kAll)),
                  kAll - 1);
}

double Dropout::scale(std::size_t layer) const {
  return static_cast<double>(kAll) / (kAll - threshold(layer));
}

std::int64_t Dropout::blocks_before(std::size_t layer) const {
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < layer; ++i)
    blocks += blocks_of(shape_.dropouts[i]);
  return blocks;
}

at::Tensor Dropout::mask(std::size_t layer, std::int64_t rows) const {
  return device_.is_cpu() ? mask_by_loop(layer, rows) : mask_by_operations(layer, rows);
}

at::Tensor Dropout::mask_by_loop(std::size_t layer, std::int64_t rows) const {
  const auto values = shape_.dropouts[layer].values;
  const std::uint32_t limit = threshold(layer);
  const std::int64_t of_a_sample = blocks_before(shape_.dropouts.size());
  at::Tensor mask =
      at::empty({static_cast<std::int64_t>(tasks_.size()), rows, static_cast<std::int64_t>(values)},
                at::kBool);
  bool* into = mask.data_ptr<bool>();
  for (const LocalTask& task : tasks_) {
    for (std::int64_t row = 0; row < rows; ++row) {
      auto block = static_cast<std::uint32_t>(row * of_a_sample + blocks_before(layer));
      for (std::size_t first = 0; first < values; first += kValuesOfABlock, ++block) {
        const auto numbers =
            random_block({block, static_cast<std::uint32_t>(step_), task.round, task.client}, key_);
        const std::size_t count = std::min(kValuesOfABlock, values - first);
        for (std::size_t i = 0; i < count; ++i)
          *into++ = (numbers[i / 2] >> (16 * (i % 2)) & (kAll - 1)) >= limit;
      }
    }
  }
  return mask;
}

at::Tensor Dropout::mask_by_operations(std::size_t layer, std::int64_t rows) const {
  const auto options = at::TensorOptions().dtype(at::kLong).device(device_);
  const at::Tensor samples = at::arange(rows, options) * blocks_before(shape_.dropouts.size());
  const at::Tensor blocks =
      at::arange(blocks_of(shape_.dropouts[layer]), options) + blocks_before(layer);
  // Those that all values share are one number each, until they are mixed with those that differ.
  std::array<at::Tensor, 4> counter = {
      (samples.unsqueeze(1) + blocks).unsqueeze(0),
      at::full({1, 1, 1}, static_cast<std::int64_t>(step_), options), rounds_, clients_};
  RandomKey key = key_;
  for (int round = 0; round < kRandomRounds; ++round) {
    const at::Tensor first = counter[0] * std::int64_t{kRandomFactors[0]};
    const at::Tensor second = counter[2] * std::int64_t{kRandomFactors[1]};
    const auto mixed = [](const at::Tensor& product, const at::Tensor& other, std::uint32_t with) {
      return high(product).bitwise_xor(other).bitwise_xor_(std::int64_t{with});
    };
    counter = {mixed(second, counter[1], key[0]), low(second), mixed(first, counter[3], key[1]),
               low(first)};
    key[0] += kRandomKeySteps[0];
    key[1] += kRandomKeySteps[1];
  }
  const std::int64_t limit = threshold(layer);
  std::vector<at::Tensor> kept;
  for (at::Tensor& numbers : counter) {
    kept.push_back(numbers.bitwise_and(std::int64_t{kAll - 1}).ge(limit));
    kept.push_back(at::bitwise_right_shift(std::exchange(numbers, {}), 16).ge(limit));
  }
  return at::stack(kept, 3).flatten(2).narrow(
      2, 0, static_cast<std::int64_t>(shape_.dropouts[layer].values));
}

}  // namespace ebb::fl
