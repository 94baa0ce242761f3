// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cache/settings.h"
#include "trace/snapshot.h"

namespace ebb::replay {

/// Gives blocks of a reconstructed state the sizes that the allocator's rules leave no choice
/// about. A history tells what was requested, not how much a block got: at least the rounded size;
/// in plain segments for large requests also a rest of up to 1 MiB, which is never split off; and
/// everything where a split size forbids splitting at all.
void settle(std::vector<trace::Segment>& segments, const cache::Settings& settings,
            const cache::VersionProfile& profile);

}  // namespace ebb::replay
