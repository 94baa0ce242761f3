// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/control_variates.h"

#include <bit>

namespace ebb::fl {

base::Result<std::unique_ptr<ControlVariates>> ControlVariates::create(const Shape& shape,
                                                                       const std::string& folder) {
  auto rows = ClientRows::create(folder, shape.clients, shape.parameters);
  if (!rows) return rows.error();
  return std::unique_ptr<ControlVariates>(new ControlVariates(shape, std::move(*rows)));
}

std::uint64_t ControlVariates::memory_of(const Shape& shape) {
  return shape.parameters * (sizeof(float) + sizeof(std::int64_t)) +
         shape.clients * (sizeof(std::uint64_t) + sizeof(std::uint8_t));
}

void ControlVariates::correction(std::uint32_t client, std::span<float> into) const {
  rows_.read(client, into);
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = server_[i] - into[i];
}

base::Status ControlVariates::learn(std::uint32_t client, std::span<const float> gradient,
                                    std::span<float> old) {
  rows_.read(client, old);
  if (auto added = sum_.add(old, gradient, 1); !added) return added;
  rows_.write(client, gradient);
  return {};
}

base::Status ControlVariates::finish_round(std::span<const Learner> learners, Ranks& ranks) {
  if (auto summed = sum_.sum_over(ranks); !summed) return summed;
  for (std::size_t i = 0; i < server_.size(); ++i)
    server_[i] = static_cast<float>(static_cast<double>(server_[i]) + sum_.sum(i) / clients_);
  sum_.clear();
  if (ranks.size() == 1) return {};
  std::vector<float> row(server_.size());
  std::vector<std::int64_t> bits(server_.size());
  for (const Learner& learner : learners) {
    // Each row is on one rank; the others add nothing to its bits.
    bits.assign(bits.size(), 0);
    if (learner.is_mine) {
      rows_.read(learner.client, row);
      for (std::size_t i = 0; i < row.size(); ++i)
        bits[i] = std::bit_cast<std::uint32_t>(row[i]);
    }
    if (auto summed = ranks.sum(bits); !summed) return summed;
    if (learner.is_mine) continue;
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits[i]));
    rows_.write(learner.client, row);
  }
  return {};
}

std::vector<std::span<std::byte>> ControlVariates::state() {
  return {std::as_writable_bytes(std::span(server_)), std::as_writable_bytes(rows_.marks())};
}

base::Status ControlVariates::restored(Ranks& ranks) {
  if (ranks.is_first()) {
    if (auto sound = rows_.check(); !sound) return sound;
  }
  if (ranks.size() == 1) return {};
  std::vector<float> row(server_.size());
  for (std::uint32_t client = 0; client < clients_; ++client) {
    if (!rows_.has(client)) continue;
    if (ranks.is_first()) rows_.read(client, row);
    if (auto told = ranks.broadcast(std::as_writable_bytes(std::span(row))); !told) return told;
    if (!ranks.is_first()) rows_.write(client, row);
  }
  return {};
}

}  // namespace ebb::fl
