// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "page/document.h"

namespace ebb::page::samples {

/// The same numbers everywhere: a linear congruential generator.
class Numbers {
 public:
  /// From 0 to below `bound`.
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % bound;
  }

 private:
  std::uint64_t state_ = 42;
};

/// A training job of `requests` requests: allocated memory that breathes with every step, and
/// reserved memory above it for each setting.
Plot history(std::size_t requests);

/// Segments of a fragmented device with about `blocks` blocks in all.
MemoryMap fragmented(std::size_t blocks);

/// What `ebb doctor` and `ebb tune` have to show: every kind of section but heat maps.
Document report();

/// Plot and map with 200,000 points to a line and 100,000 blocks.
Document large();

/// A table of 1,000 rows.
Document rows();

/// 340 runs that can be searched, filtered and put side by side, below a table that cannot.
Document runs();

/// Where the memory of a process is, at so many moments: a stack of six parts.
Document stacked(std::size_t moments);

/// Heat maps: four rows of 100 columns, and one with a field that is missing.
Document heat();

/// Who holds memory, over a minute and a half of two processes.
Document sites();

/// Text that tries to become markup or script wherever text goes.
Document hostile();

/// Numbers and shapes that break the contracts of document.h.
Document broken();

}  // namespace ebb::page::samples
