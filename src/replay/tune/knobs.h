// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cache/settings.h"
#include "replay/workload.h"

namespace ebb::replay {

/// The settings that change how much a job holds, as values to search over. 0 is PyTorch's default
/// everywhere.
struct Knobs {
  bool expandable = false;
  std::uint32_t split_mb = 0;
  std::uint32_t non_split_mb = 0;
  std::uint32_t segment_mb = 0;
  std::uint32_t collect_percent = 0;
  /// Divisions of a power of two by size: below 2 MiB, [2, 4) MiB, … from 32 GiB on.
  std::array<std::uint8_t, cache::kRoundingBuckets> divisions{};

  friend bool operator==(const Knobs&, const Knobs&) = default;
};

/// How many settings differ from the default.
int count_set(const Knobs& knobs);

/// The string for PYTORCH_CUDA_ALLOC_CONF, as short as it gets; "" for the default.
std::string conf_of(const Knobs& knobs);

/// The same as values. Nothing where this release would refuse the string.
std::optional<cache::Settings> settings_of(const Knobs& knobs,
                                           const cache::VersionProfile& profile);

/// Values worth trying, each list with the default first.
struct SearchSpace {
  std::vector<bool> expandable;
  std::vector<std::uint32_t> split_mb;
  std::vector<std::uint32_t> non_split_mb;  ///< tried only together with a split size
  std::vector<std::uint32_t> segment_mb;
  std::vector<std::uint32_t> collect_percent;
  std::vector<std::uint8_t> divisions;  ///< the same for all sizes; lists come from refining
  std::vector<std::size_t> buckets;     ///< sizes that the jobs ask for: worth a list

  /// All combinations, the most promising first.
  std::vector<Knobs> combinations() const;
};

/// The space for these jobs under a release of PyTorch: settings that it does not know, and values
/// that cannot matter to the sizes these jobs ask for, are left out.
SearchSpace space_for(const std::vector<const Workload*>& jobs,
                      const cache::VersionProfile& profile, bool limited);

/// Takes a setting out of the space, by PyTorch's name for it. Code::bad_input where no setting
/// that is searched over has that name.
base::Status leave_out(SearchSpace& space, std::string_view key);

}  // namespace ebb::replay
