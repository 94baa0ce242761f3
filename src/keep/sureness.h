// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keep/draft.h"

namespace ebb::keep {

/// How sure the verdict is, and a finding for each reason why it is not surer. `high` takes a
/// minute and live bytes; for growth, half a minute of it without holes, and clear growth in it;
/// for what the allocator keeps, a cleanup that returned some of it.
void state_confidence(Draft& draft);

}  // namespace ebb::keep
