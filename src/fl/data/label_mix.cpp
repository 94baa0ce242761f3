// SPDX-License-Identifier: Apache-2.0
#include "fl/data/label_mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fl/data/size_skew.h"

namespace ebb::fl {
namespace {

// What a client's two streams are for, in the place of a round.
constexpr std::uint32_t kOfSize = 0;
constexpr std::uint32_t kOfSamples = 1;

/// In proportion to each client's own number, `each` on average.
std::vector<std::uint32_t> skewed_sizes(std::uint32_t clients, std::uint32_t samples,
                                        const PartitionOptions& options, std::uint64_t seed) {
  const auto weight_of = [&](std::uint32_t client) {
    Random random(seed, Purpose::shared_samples, kOfSize, client);
    return size_weight(options, random);
  };
  double sum = 0;
  for (std::uint32_t client = 0; client < clients; ++client)
    sum += weight_of(client);
  const double scale = static_cast<double>(options.samples_per_client) * clients / sum;
  std::vector<std::uint32_t> sizes(clients);
  for (std::uint32_t client = 0; client < clients; ++client) {
    const double size =
        std::clamp(std::round(scale * weight_of(client)), 1.0, static_cast<double>(samples));
    sizes[client] = static_cast<std::uint32_t>(size);
  }
  return sizes;
}

}  // namespace

base::Result<LabelMixes> LabelMixes::create(std::span<const std::uint8_t> labels,
                                            std::uint32_t classes, std::uint32_t clients,
                                            const PartitionOptions& options, std::uint64_t seed) {
  if (const auto right = check(options); !right) return right.error();
  if (const auto right = check_labels(labels, classes); !right) return right.error();
  if (clients == 0) return base::error(base::Code::bad_input, "0 clients, expected at least 1");
  if (options.samples_per_client > labels.size())
    return base::error(base::Code::bad_input,
                       "samples_per_client %u, expected at most the %zu samples of the data set",
                       options.samples_per_client, labels.size());
  const auto samples = static_cast<std::uint32_t>(labels.size());
  LabelMixes mixes;
  mixes.clients_ = clients;
  mixes.size_ = options.samples_per_client;
  if (options.sizes != SizeSkew::none) mixes.sizes_ = skewed_sizes(clients, samples, options, seed);
  mixes.alpha_ = options.alpha;
  mixes.seed_ = seed;
  mixes.by_label_.resize(samples);
  std::iota(mixes.by_label_.begin(), mixes.by_label_.end(), 0U);
  std::stable_sort(
      mixes.by_label_.begin(), mixes.by_label_.end(),
      [&](std::uint32_t one, std::uint32_t other) { return labels[one] < labels[other]; });
  mixes.first_.assign(classes + 1ULL, 0);
  for (const std::uint8_t label : labels)
    ++mixes.first_[label + 1ULL];
  std::partial_sum(mixes.first_.begin(), mixes.first_.end(), mixes.first_.begin());
  return mixes;
}

Random LabelMixes::stream_of(std::uint32_t client) const {
  return {seed_, Purpose::shared_samples, kOfSamples, client};
}

std::vector<std::uint32_t> LabelMixes::draw_counts(std::uint32_t client, Random& random) const {
  const std::size_t classes = first_.size() - 1;
  std::vector<std::size_t> occurring;
  for (std::size_t label = 0; label < classes; ++label)
    if (stock_of(label) > 0) occurring.push_back(label);
  std::vector<double> mix = random.dirichlet(alpha_, occurring.size());
  std::vector<std::uint32_t> counts(classes);
  for (std::uint32_t left = size_of(client); left > 0; --left) {
    if (std::all_of(mix.begin(), mix.end(), [](double share) { return share <= 0; })) {
      for (std::size_t i = 0; i < mix.size(); ++i)
        mix[i] = stock_of(occurring[i]) - counts[occurring[i]];
    }
    const std::size_t drawn = random.weighted(mix);
    const std::size_t label = occurring[drawn];
    if (++counts[label] == stock_of(label)) mix[drawn] = 0;
  }
  return counts;
}

std::vector<std::uint32_t> LabelMixes::label_counts(std::uint32_t client) const {
  Random random = stream_of(client);
  return draw_counts(client, random);
}

std::vector<std::uint32_t> LabelMixes::samples_of(std::uint32_t client) const {
  Random random = stream_of(client);
  const std::vector<std::uint32_t> counts = draw_counts(client, random);
  std::vector<std::uint32_t> samples;
  samples.reserve(size_of(client));
  for (std::size_t label = 0; label < counts.size(); ++label) {
    for (const std::uint32_t place : random.sample(stock_of(label), counts[label]))
      samples.push_back(by_label_[first_[label] + place]);
  }
  return samples;
}

}  // namespace ebb::fl
