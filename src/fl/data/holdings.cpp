// SPDX-License-Identifier: Apache-2.0
#include "fl/data/holdings.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace ebb::fl {

base::Result<Holdings> Holdings::create(const DataSet& data, std::uint32_t clients,
                                        const PartitionOptions& options, std::uint64_t seed) {
  if (options.kind == PartitionKind::mix) {
    auto shared = LabelMixes::create(data.train.labels, data.classes, clients, options, seed);
    if (!shared) return shared.error();
    return Holdings(std::move(*shared));
  }
  auto dealt = options.kind == PartitionKind::users
                   ? partition_by_users(data.users, clients)
                   : partition_samples(data.train.labels, data.classes, clients, options, seed);
  if (!dealt) return dealt.error();
  return Holdings(std::move(*dealt));
}

std::uint32_t Holdings::clients() const {
  return std::visit([](const auto& samples) { return samples.clients(); }, samples_);
}

std::uint32_t Holdings::size_of(std::uint32_t client) const {
  if (const auto* shared = std::get_if<LabelMixes>(&samples_)) return shared->size_of(client);
  return static_cast<std::uint32_t>(std::get<Partition>(samples_).of(client).size());
}

std::vector<std::uint32_t> Holdings::samples_of(std::uint32_t client) const {
  if (const auto* shared = std::get_if<LabelMixes>(&samples_)) return shared->samples_of(client);
  const auto own = std::get<Partition>(samples_).of(client);
  return {own.begin(), own.end()};
}

std::vector<std::uint32_t> Holdings::label_counts(std::uint32_t client, const DataSet& data) const {
  if (const auto* shared = std::get_if<LabelMixes>(&samples_)) return shared->label_counts(client);
  std::vector<std::uint32_t> counts(data.classes);
  for (const std::uint32_t sample : std::get<Partition>(samples_).of(client))
    ++counts[data.train.labels[sample]];
  return counts;
}

std::uint64_t Holdings::most_of(std::uint32_t clients) const {
  // A cohort cannot hold more than there is; the bound is part of how sums are rounded.
  if (const auto* dealt = std::get_if<Partition>(&samples_)) return dealt->indices.size();
  const auto& shared = std::get<LabelMixes>(samples_);
  std::vector<std::uint32_t> sizes(shared.clients());
  for (std::uint32_t client = 0; client < shared.clients(); ++client)
    sizes[client] = shared.size_of(client);
  const auto end = sizes.begin() + std::min(clients, shared.clients());
  std::nth_element(sizes.begin(), end == sizes.end() ? end - 1 : end, sizes.end(),
                   std::greater<>());
  return std::accumulate(sizes.begin(), end, std::uint64_t{0});
}

}  // namespace ebb::fl
