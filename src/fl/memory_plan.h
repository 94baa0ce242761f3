// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace ebb::fl {

// Purposes that others than the plan know.
inline constexpr const char* kProgramItem = "program and libraries";
inline constexpr const char* kDataItem = "data set";

/// What one purpose takes, in bytes.
struct MemoryItem {
  std::string purpose;  ///< e.g. "data set", "accumulator"
  std::uint64_t bytes = 0;
  bool per_client = false;  ///< for each client in training at a time
  bool on_disk = false;     ///< a mapped file: not memory, but room
  bool on_card = false;     ///< memory of a card, not of the host
};

/// Everything large that a simulation will hold, known before round 0.
struct MemoryPlan {
  std::vector<MemoryItem> items;
  std::uint32_t parallel_clients = 1;
  std::uint64_t available = 0;       ///< what the choice was made against
  std::string available_from;        ///< e.g. "--memory", "cgroup limit", "free memory"
  std::uint64_t card_available = 0;  ///< of the card that trains; 0: the host does

  std::uint64_t fixed() const;
  std::uint64_t per_client() const;
  std::uint64_t total() const { return fixed() + parallel_clients * per_client(); }
  /// What the card will hold.
  std::uint64_t card_total() const;
};

base::Json to_json(const MemoryPlan& plan);

}  // namespace ebb::fl
