// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "fl/data/partition.h"
#include "fl/random.h"

namespace ebb::fl {

/// Clients that share the training samples: each is a mix of labels, a size and a seed, out of
/// which its samples are drawn whenever they are asked for. They are the same each time, whoever
/// asks, when and in which order. Immutable, and safe to use from several threads.
///
/// A mix is drawn from the symmetric Dirichlet distribution over the labels that occur (Hsu et al.
/// 2019). Each of a client's samples has a label drawn from its mix, and is drawn among those of
/// that label. No client has a sample twice: once it has all of a label, the others of its mix are
/// drawn; once it has all of those, labels in proportion to what is left of them.
///
/// Everyone has `samples_per_client`; skewed sizes are in proportion to lognormal or Pareto
/// numbers, with that as their mean, but for the smallest, which is 1, and the largest, which is
/// everything.
class LabelMixes {
 public:
  /// Code::bad_input where there are fewer samples than a client is to have, or labels are wrong.
  static base::Result<LabelMixes> create(std::span<const std::uint8_t> labels,
                                         std::uint32_t classes, std::uint32_t clients,
                                         const PartitionOptions& options, std::uint64_t seed);

  std::uint32_t clients() const { return clients_; }
  std::uint32_t size_of(std::uint32_t client) const {
    return sizes_.empty() ? size_ : sizes_[client];
  }
  /// By label.
  std::vector<std::uint32_t> samples_of(std::uint32_t client) const;
  /// How many of each label those are.
  std::vector<std::uint32_t> label_counts(std::uint32_t client) const;

 private:
  LabelMixes() = default;

  Random stream_of(std::uint32_t client) const;
  std::vector<std::uint32_t> draw_counts(std::uint32_t client, Random& random) const;
  std::uint32_t stock_of(std::size_t label) const { return first_[label + 1] - first_[label]; }

  std::uint32_t clients_ = 0;
  std::uint32_t size_ = 0;            ///< of everyone, where sizes are not skewed
  std::vector<std::uint32_t> sizes_;  ///< where they are
  double alpha_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::uint32_t> by_label_;  ///< samples
  std::vector<std::uint32_t> first_;     ///< in it, of each label; and the end
};

}  // namespace ebb::fl
