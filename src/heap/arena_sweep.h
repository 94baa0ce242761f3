// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ebb::heap {

/// Numbers of glibc's mallopt. Headers of other C libraries, which the core compiles with too, lack
/// their names.
inline constexpr int kTrimThresholdOption = -1;
inline constexpr int kMmapThresholdOption = -3;
inline constexpr int kArenaMaxOption = -8;

/// glibc's functions that a sweep needs, out of the libc that serves malloc.
struct SweepFunctions {
  void* (*malloc)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  int (*mallopt)(int, int) = nullptr;
};

struct SweepResult {
  unsigned threads = 0;  ///< helpers that took part; 0 where none could be started
  std::vector<std::string> notes;
};

/// Makes every arena of glibc look at its own top and give it back, which malloc_trim does for
/// the main arena alone: short-lived threads, held together so that each gets another arena,
/// free a block large enough to make glibc trim. Public interface only.
///
/// Lasting effects: glibc's thresholds stop adjusting themselves, and an arena limit that was not
/// yet fixed becomes the larger of `arenas` and 8. Requires: arenas >= 2 (with the main arena
/// alone malloc_trim does it all, and fixing the limit then would bind the job to one arena).
/// A child that is forked meanwhile has no helpers, and the thresholds of after the sweep.
SweepResult sweep_arenas(unsigned arenas, const SweepFunctions& functions);

}  // namespace ebb::heap
