// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ebb::fl {

enum class PartitionKind : std::uint8_t { iid, dirichlet, shards, users, mix };
enum class SizeSkew : std::uint8_t { none, lognormal, power_law };

struct PartitionOptions {
  PartitionKind kind = PartitionKind::iid;
  double alpha = 0.5;  ///< of Dirichlet: the smaller, the fewer labels a client has
  std::uint32_t shards_per_client = 2;
  std::uint32_t samples_per_client = 100;  ///< of mix, where samples are shared: on average
  SizeSkew sizes = SizeSkew::none;
  double size_sigma = 0.5;  ///< of the lognormal sizes
  double size_alpha = 1.5;  ///< of the power law: the smaller, the more unequal
};

/// Which training samples each client has. Every sample has at most one owner.
struct Partition {
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> offsets;  ///< one more than there are clients

  std::uint32_t clients() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  std::span<const std::uint32_t> of(std::uint32_t client) const {
    return std::span(indices).subspan(offsets[client], offsets[client + 1] - offsets[client]);
  }
};

/// Deals the samples with these labels to `clients`, each of whom gets at least one.
///
/// iid: the same number for everyone, at random. dirichlet: for each label shares of all clients
/// are drawn, and its samples cut up by them (Hsu et al. 2019); a client left without any gets one
/// from the client that has most. shards: samples sorted by label are cut into equal shards, and
/// each client gets `shards_per_client` of them (McMahan et al. 2017).
///
/// Skewed sizes come on top and keep each client's mix of labels: sizes are drawn first, in
/// proportion to lognormal or Pareto numbers. A client's size times its mix says how many samples
/// of each label it wants. If a label is wanted more often than it occurs, all sizes shrink by one
/// factor until none is; samples that no client wants then have no owner. Without skew every sample
/// has one.
///
/// Code::bad_input where there are too few samples or an option is out of its range; for users,
/// which a data set says; and for mix, which deals nothing.
base::Result<Partition> partition_samples(std::span<const std::uint8_t> labels,
                                          std::uint32_t classes, std::uint32_t clients,
                                          const PartitionOptions& options, std::uint64_t seed);

/// The first of a data set's users as clients, each with its own samples, which lie user by user.
/// Code::bad_input where there are fewer users than clients.
base::Result<Partition> partition_by_users(std::span<const std::uint32_t> users,
                                           std::uint32_t clients);

/// Code::bad_input where there are too many samples to be numbered, or a label is none of the
/// classes.
base::Status check_labels(std::span<const std::uint8_t> labels, std::uint32_t classes);

/// Code::bad_input where an option is out of its range or does not go with another.
base::Status check(const PartitionOptions& options);

const char* name_of(PartitionKind kind);
const char* name_of(SizeSkew skew);
/// Code::bad_input names the nearest.
base::Result<PartitionKind> partition_kind_from(std::string_view name);
base::Result<SizeSkew> size_skew_from(std::string_view name);

}  // namespace ebb::fl
