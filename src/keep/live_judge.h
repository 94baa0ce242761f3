// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keep/draft.h"

namespace ebb::keep {

/// Live bytes are known: they tell a leak from what the allocator keeps, and retained bytes tell
/// that from memory which is not the allocator's.
void judge_with_live(Draft& draft);

}  // namespace ebb::keep
