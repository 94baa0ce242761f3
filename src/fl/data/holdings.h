// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fl/data/data_set.h"
#include "fl/data/label_mix.h"
#include "fl/data/partition.h"

namespace ebb::fl {

/// Which training samples each client has: dealt to one client each, or shared and drawn for a
/// client when it is asked for. Immutable, and safe to use from several threads.
class Holdings {
 public:
  /// As `options` say. Code::bad_input where that cannot be.
  static base::Result<Holdings> create(const DataSet& data, std::uint32_t clients,
                                       const PartitionOptions& options, std::uint64_t seed);
  explicit Holdings(Partition dealt) : samples_(std::move(dealt)) {}
  explicit Holdings(LabelMixes shared) : samples_(std::move(shared)) {}

  std::uint32_t clients() const;
  std::uint32_t size_of(std::uint32_t client) const;
  std::vector<std::uint32_t> samples_of(std::uint32_t client) const;
  /// How many of each label of `data`, out of which they were created, those are.
  std::vector<std::uint32_t> label_counts(std::uint32_t client, const DataSet& data) const;
  /// What the samples of so many different clients are at most.
  std::uint64_t most_of(std::uint32_t clients) const;

 private:
  std::variant<Partition, LabelMixes> samples_;
};

}  // namespace ebb::fl
