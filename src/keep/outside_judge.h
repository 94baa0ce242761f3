// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keep/draft.h"

namespace ebb::keep {

/// Live bytes are not known, cleanups are: what one does not return is taken to be in use.
void judge_by_floor(Draft& draft);

/// Nothing is known but what the kernel tells.
void judge_from_outside(Draft& draft);

}  // namespace ebb::keep
