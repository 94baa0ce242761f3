// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace ebb::fact {

/// Memory of a card, in bytes.
struct CardMemory {
  std::uint64_t total = 0;
  std::uint64_t free = 0;      ///< whatever other processes leave
  std::uint64_t reserved = 0;  ///< by this process's allocator
  std::uint64_t cached = 0;    ///< of it: in no use
  // What only PyTorch tells.
  std::optional<std::uint64_t> live{};      ///< of `reserved`: allocated and not freed
  std::optional<std::uint64_t> inactive{};  ///< of `cached`: pieces beside memory that is in use

  bool operator==(const CardMemory&) const = default;

  double used_percent() const {
    return total == 0 ? 0 : 100 * (1 - static_cast<double>(free) / static_cast<double>(total));
  }
};

/// One card at one moment.
struct CardSample {
  std::uint32_t index = 0;  ///< CUDA's number of it, or NVML's, as whoever read it says
  CardMemory memory{};

  bool operator==(const CardSample&) const = default;
};

}  // namespace ebb::fact
