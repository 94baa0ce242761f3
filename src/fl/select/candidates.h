// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fl/select/selector.h"

namespace ebb::fl::select {

/// `selector` before the candidates alone where there are more clients than `limit.most`; it then
/// knows them by their places among the candidates, in the order of their numbers. Requires:
/// `drawn` is not `never`; a selector whose candidates are drawn in each round remembers nobody.
std::unique_ptr<Selector> of_candidates(std::unique_ptr<Selector> selector, CandidatesDrawn drawn,
                                        const CandidateLimit& limit);

}  // namespace ebb::fl::select
