// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "fact/diagnosis.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// What one place in the program holds, in two snapshots.
struct Change {
  std::uint64_t here = 0;
  std::uint64_t there = 0;
  std::int64_t blocks = 0;          ///< more of them
  std::vector<std::string> frames;  ///< or the size of the blocks, where no stack was recorded

  std::int64_t growth() const {
    return static_cast<std::int64_t>(here) - static_cast<std::int64_t>(there);
  }
};

/// How one snapshot differs from another, by what is live at their ends.
struct Comparison {
  fact::Verdict verdict = fact::Verdict::healthy;  ///< leak where more is live than there
  std::string headline;
  std::uint64_t live_here = 0;
  std::uint64_t live_there = 0;
  std::uint64_t reserved_here = 0;
  std::uint64_t reserved_there = 0;
  std::vector<Change> changes;  ///< what grew, most first; then what shrank
};

/// More than 1 % and 1 MiB more live bytes than `there` are growth. Of one device, or of all.
Comparison compare(const trace::Snapshot& here, const trace::Snapshot& there,
                   std::optional<int> device = std::nullopt);

base::Json to_json(const Comparison& comparison);

}  // namespace ebb::replay
