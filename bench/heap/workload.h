// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ebb::bench {

/// Resident bytes of this process.
std::uint64_t rss_now();

/// Blocks of one size, every byte touched, so that all of it is resident.
class Blocks {
 public:
  Blocks(std::size_t count, std::size_t size);
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// Frees all but every `keep`-th block; 0 frees all.
  void free_all_but_every(std::size_t keep);

 private:
  std::vector<void*> blocks_;
};

/// What NVFlare 2.8's cleanup_memory does below Python: nothing where the process has a global
/// `mallctl` anywhere, otherwise glibc's malloc_trim(0), whatever allocator serves malloc.
void clean_as_nvflare();

}  // namespace ebb::bench
