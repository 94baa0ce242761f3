// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fl/card.h"

namespace ebb::fl {

/// The card of the back end "cuda", with libtorch's caching allocator. Where this libtorch does not
/// tell what it caches (before 2.10), nothing of it can be read or emptied.
std::unique_ptr<Card> torch_card();

}  // namespace ebb::fl
