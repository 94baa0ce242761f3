// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fl/data/partition.h"
#include "fl/random.h"

namespace ebb::fl {

/// Samples in the order in which they were dealt: of each client, or of each label.
using Hands = std::vector<std::vector<std::uint32_t>>;

/// What a client's size is in proportion to. Requires: sizes are skewed.
double size_weight(const PartitionOptions& options, Random& random);

/// `hands` dealt anew: sizes as options.sizes says, each client's mix of labels as it was, at least
/// one sample for everyone. partition_samples() says how. Requires: no hand is empty.
Hands with_skewed_sizes(const Hands& hands, std::span<const std::uint8_t> labels,
                        const Hands& by_label, const PartitionOptions& options, Random& random);

}  // namespace ebb::fl
