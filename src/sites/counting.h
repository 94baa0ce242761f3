// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sites/sampler.h"

namespace ebb::sites {

/// The sampler of this process, of everything in it that hands memory to the program.
extern constinit Sampler sampler __attribute__((visibility("hidden")));

/// Counts what the program was given.
inline void* counted(void* block, std::size_t bytes) {
  if (is_due(bytes)) [[unlikely]] {
    if (block != nullptr) sampler.took(block, bytes);
  }
  return block;
}

/// Lets `make` run without its allocations being counted; true where it had some that would have
/// been.
template <class Make>
bool uncounted(const Make& make) {
  constexpr std::int64_t kPlenty = 1 << 30;
  const std::int64_t before = this_thread.left;
  this_thread.left = kPlenty;
  make();
  const bool would_count = this_thread.left < kPlenty;
  this_thread.left = before;
  return would_count;
}

}  // namespace ebb::sites
