// SPDX-License-Identifier: Apache-2.0
#include "fl/data/partition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <queue>

#include "fl/data/size_skew.h"
#include "fl/names.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

constexpr std::array<Named<PartitionKind>, 5> kPartitionKinds = {{
    {PartitionKind::iid, "iid"},
    {PartitionKind::dirichlet, "dirichlet"},
    {PartitionKind::shards, "shards"},
    {PartitionKind::users, "users"},
    {PartitionKind::mix, "mix"},
}};
constexpr std::array<Named<SizeSkew>, 3> kSkews = {{
    {SizeSkew::none, "none"},
    {SizeSkew::lognormal, "lognormal"},
    {SizeSkew::power_law, "power-law"},
}};

std::vector<std::uint32_t> shuffled_below(std::uint32_t count, Random& random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order));
  return order;
}

Hands deal_evenly(std::uint32_t samples, std::uint32_t clients, Random& random) {
  Hands hands(clients);
  std::uint32_t next = 0;
  for (const std::uint32_t sample : shuffled_below(samples, random)) {
    hands[next].push_back(sample);
    next = next + 1 == clients ? 0 : next + 1;
  }
  return hands;
}

/// Each client without samples gets one from the client that has most.
void feed_the_empty(Hands& hands) {
  using Size = std::pair<std::size_t, std::uint32_t>;
  std::priority_queue<Size> by_size;
  for (std::uint32_t client = 0; client < hands.size(); ++client)
    by_size.emplace(hands[client].size(), client);
  for (std::vector<std::uint32_t>& hand : hands) {
    if (!hand.empty()) continue;
    const std::uint32_t richest = by_size.top().second;
    by_size.pop();
    hand.push_back(hands[richest].back());
    hands[richest].pop_back();
    by_size.emplace(hands[richest].size(), richest);
  }
}

Hands deal_dirichlet(const Hands& by_label, std::uint32_t clients, double alpha, Random& random) {
  Hands hands(clients);
  for (std::vector<std::uint32_t> samples : by_label) {
    random.shuffle(std::span(samples));
    const std::vector<double> shares = random.dirichlet(alpha, clients);
    double until = 0;
    std::size_t next = 0;
    for (std::uint32_t client = 0; client < clients; ++client) {
      until += shares[client];
      // The last one takes what rounding left.
      const auto end =
          client + 1 == clients
              ? samples.size()
              : std::min(samples.size(),
                         static_cast<std::size_t>(until * static_cast<double>(samples.size())));
      for (; next < end; ++next)
        hands[client].push_back(samples[next]);
    }
  }
  feed_the_empty(hands);
  return hands;
}

Hands deal_shards(const Hands& by_label, std::uint64_t samples, std::uint32_t clients,
                  std::uint32_t each, Random& random) {
  std::vector<std::uint32_t> sorted;
  sorted.reserve(samples);
  for (std::vector<std::uint32_t> same : by_label) {
    random.shuffle(std::span(same));
    sorted.insert(sorted.end(), same.begin(), same.end());
  }
  const std::uint32_t count = clients * each;
  const auto begin_of = [&](std::uint64_t shard) { return shard * samples / count; };
  Hands hands(clients);
  std::uint32_t position = 0;
  for (const std::uint32_t shard : shuffled_below(count, random)) {
    for (std::uint64_t at = begin_of(shard); at < begin_of(shard + 1ULL); ++at)
      hands[position % clients].push_back(sorted[at]);
    ++position;
  }
  return hands;
}

Partition partition_of(const Hands& hands) {
  Partition partition;
  partition.offsets.reserve(hands.size() + 1);
  partition.offsets.push_back(0);
  for (const std::vector<std::uint32_t>& hand : hands) {
    partition.indices.insert(partition.indices.end(), hand.begin(), hand.end());
    partition.offsets.push_back(static_cast<std::uint32_t>(partition.indices.size()));
  }
  return partition;
}

base::Status check_numbers(std::span<const std::uint8_t> labels, std::uint32_t classes,
                           std::uint32_t clients, const PartitionOptions& options) {
  if (clients == 0) return base::error(base::Code::bad_input, "0 clients, expected at least 1");
  const std::uint64_t each = options.kind == PartitionKind::shards ? options.shards_per_client : 1;
  const std::uint64_t least = each * clients;
  if (labels.size() < least) {
    return base::error(base::Code::bad_input,
                       "%zu samples for %u clients, expected at least %llu: %llu for each client",
                       labels.size(), clients, static_cast<unsigned long long>(least),
                       static_cast<unsigned long long>(each));
  }
  return check_labels(labels, classes);
}

}  // namespace

base::Status check_labels(std::span<const std::uint8_t> labels, std::uint32_t classes) {
  if (labels.size() > UINT32_MAX)
    return base::error(base::Code::bad_input, "%zu samples, expected fewer than 2^32",
                       labels.size());
  const auto wrong = std::find_if(labels.begin(), labels.end(),
                                  [&](std::uint8_t label) { return label >= classes; });
  if (wrong == labels.end()) return {};
  return base::error(base::Code::bad_input, "sample %td has label %u, expected one below %u",
                     wrong - labels.begin(), unsigned{*wrong}, classes);
}

base::Status check(const PartitionOptions& options) {
  if (!(options.alpha > 0 && std::isfinite(options.alpha)))
    return base::error(base::Code::bad_input, "alpha %g, expected a number above 0", options.alpha);
  if (options.shards_per_client == 0)
    return base::error(base::Code::bad_input, "0 shards per client, expected at least 1");
  if (options.samples_per_client == 0)
    return base::error(base::Code::bad_input, "0 samples per client, expected at least 1");
  if (options.kind == PartitionKind::users && options.sizes != SizeSkew::none)
    return base::error(base::Code::bad_input,
                       "sizes %s with partition users, expected none: each "
                       "user has its own",
                       name_of(options.sizes));
  // Beyond these bounds one client has everything, or numbers overflow.
  if (!(options.size_sigma >= 0 && options.size_sigma <= 10))
    return base::error(base::Code::bad_input, "size sigma %g, expected 0 to 10",
                       options.size_sigma);
  if (!(options.size_alpha >= 0.1 && options.size_alpha <= 1000))
    return base::error(base::Code::bad_input, "size alpha %g, expected 0.1 to 1000",
                       options.size_alpha);
  return {};
}

base::Result<Partition> partition_samples(std::span<const std::uint8_t> labels,
                                          std::uint32_t classes, std::uint32_t clients,
                                          const PartitionOptions& options, std::uint64_t seed) {
  if (const auto right = check(options); !right) return right.error();
  if (const auto right = check_numbers(labels, classes, clients, options); !right)
    return right.error();
  const auto samples = static_cast<std::uint32_t>(labels.size());
  Hands by_label(classes);
  for (std::uint32_t sample = 0; sample < samples; ++sample)
    by_label[labels[sample]].push_back(sample);

  Random random(seed, Purpose::partition);
  Hands hands;
  switch (options.kind) {
    case PartitionKind::iid:
      hands = deal_evenly(samples, clients, random);
      break;
    case PartitionKind::dirichlet:
      hands = deal_dirichlet(by_label, clients, options.alpha, random);
      break;
    case PartitionKind::shards:
      hands = deal_shards(by_label, samples, clients, options.shards_per_client, random);
      break;
    case PartitionKind::users:
      return base::error(base::Code::bad_input,
                         "partition users, expected a data set that has users");
    case PartitionKind::mix:
      return base::error(base::Code::bad_input,
                         "partition mix, expected one that deals the samples out");
  }
  if (options.sizes != SizeSkew::none) {
    // A stream of its own: the mixes are those of the same partition without skew.
    Random of_sizes(seed, Purpose::partition, 1);
    hands = with_skewed_sizes(hands, labels, by_label, options, of_sizes);
  }
  return partition_of(hands);
}

base::Result<Partition> partition_by_users(std::span<const std::uint32_t> users,
                                           std::uint32_t clients) {
  if (clients == 0 || clients > users.size())
    return base::error(base::Code::bad_input,
                       "%u clients, expected 1 to %zu: as many as the data set has users", clients,
                       users.size());
  Partition partition;
  partition.offsets = {0};
  for (const std::uint32_t samples : users.first(clients))
    partition.offsets.push_back(partition.offsets.back() + samples);
  partition.indices.resize(partition.offsets.back());
  std::iota(partition.indices.begin(), partition.indices.end(), 0U);
  return partition;
}

const char* name_of(PartitionKind kind) {
  return name_in<PartitionKind>(kPartitionKinds, kind);
}

const char* name_of(SizeSkew skew) {
  return name_in<SizeSkew>(kSkews, skew);
}

base::Result<PartitionKind> partition_kind_from(std::string_view name) {
  return value_in<PartitionKind>(kPartitionKinds, "partition", name);
}

base::Result<SizeSkew> size_skew_from(std::string_view name) {
  return value_in<SizeSkew>(kSkews, "size skew", name);
}

}  // namespace ebb::fl
