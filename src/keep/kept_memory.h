// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "keep/draft.h"

namespace ebb::keep {

// What the allocator keeps of memory that was freed: retention, which a cleanup returns, or
// fragmentation, which none does.

/// What helps where it is not done yet.
inline constexpr const char* kCleanUp =
    "Clean up at the end of a round (ebb_cleanup, docs/cleanup.md), or start the job with the "
    "environment that ebb env prints";

/// The growth is the allocator's: retention, or fragmentation if cleanups came and returned next to
/// nothing.
void decide_growth_of_kept(Draft& draft, const trend::Assessment& growing);

/// What is left by cleanups grows.
void decide_fragmentation(Draft& draft);

/// What does not grow may still be kept: all the time, or until a cleanup returns it.
void judge_level_of_kept(Draft& draft);

/// What cleanups of malloc came to, as a sentence.
std::string what_cleanups_did(const CleanupSum& sum);

/// Whether a cleanup has returned a good part of what is kept: only then is it known that one can.
bool cleanup_has_shown(const MemorySeries& series);

}  // namespace ebb::keep
