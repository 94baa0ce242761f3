// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fact/card.h"
#include "sense/gpu.h"

namespace ebb::keep {

/// The cards of which something is known.
struct CardsSeen {
  std::vector<fact::CardSample> cards{};
  bool tells_caches = false;  ///< `reserved` and `cached` are known
  std::string trouble{};      ///< why there are none, or why one is missing; else empty
};

/// Those of the machine, by NVML's numbers: how full they are, not what a process keeps of them.
CardsSeen machine_cards(const base::Result<std::vector<sense::GpuReading>>& gpus);

}  // namespace ebb::keep
