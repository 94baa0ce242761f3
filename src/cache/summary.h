// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/stats.h"

namespace ebb::cache {

/// torch.cuda.memory_summary(): the table, character for character. `abbreviated` leaves the rows
/// of the two pools out.
std::string memory_summary(const Stats& stats, int device, bool abbreviated = false);

}  // namespace ebb::cache
