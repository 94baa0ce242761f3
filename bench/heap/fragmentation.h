// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/child.h"

namespace ebb::bench {

/// One allocator as a job would be started on it.
struct Subject {
  std::string name;
  Environment environment;
};

/// glibc and every other allocator that is installed, mimalloc also with the environment that
/// `ebb env` recommends. Exits where one is missing: the table compares four.
std::vector<Subject> subjects();

/// Resident bytes through one life of a heap, and what a cleanup gave.
struct HeapLife {
  double base = 0;     ///< before anything was allocated
  double full = 0;     ///< everything allocated
  double freed = 0;    ///< nearly everything freed, nothing cleaned
  double cleaned = 0;  ///< after the cleanup
  double seconds = 0;  ///< of the cleanup

  /// The share of what the job had taken that is back with the system.
  double returned_share() const { return (full - cleaned) / (full - base); }
};

/// 600 MB in blocks of 30 kB, 99.5 % freed, then a cleanup: "ebb" or "nvflare".
HeapLife fragmentation_in_child(const Subject& subject, const std::string& cleanup);

/// 20 threads take and free 50 MB each, then a cleanup: "trim" (malloc_trim alone) or "deep".
/// `alive`: the threads still exist, holding their arenas.
HeapLife threads_in_child(const std::string& cleanup, bool alive);

/// The child's side of both; true where `arguments` asked for it.
bool run_as_child(const std::vector<std::string>& arguments);

}  // namespace ebb::bench
