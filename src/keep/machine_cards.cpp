// SPDX-License-Identifier: Apache-2.0
#include "keep/machine_cards.h"

namespace ebb::keep {

CardsSeen machine_cards(const base::Result<std::vector<sense::GpuReading>>& gpus) {
  CardsSeen seen;
  if (!gpus) {
    seen.trouble = gpus.error().message;
    return seen;
  }
  for (const sense::GpuReading& gpu : *gpus) {
    if (gpu.total && gpu.free && *gpu.total > 0) {
      seen.cards.push_back({gpu.index, {.total = *gpu.total, .free = *gpu.free}});
    } else if (seen.trouble.empty()) {
      seen.trouble = "GPU " + std::to_string(gpu.index) + " does not tell its memory" +
                     (gpu.trouble.empty() ? "" : ": " + gpu.trouble);
    }
  }
  if (gpus->empty()) seen.trouble = "no GPU readings: this machine has no NVIDIA GPU";
  return seen;
}

}  // namespace ebb::keep
