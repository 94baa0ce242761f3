// SPDX-License-Identifier: Apache-2.0
#include "heap/workload.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "sense/process.h"

namespace ebb::bench {

std::uint64_t rss_now() {
  return sense::read_rss_fast().value_or(0);
}

Blocks::Blocks(std::size_t count, std::size_t size) : blocks_(count) {
  for (void*& block : blocks_) {
    block = std::malloc(size);
    std::memset(block, 1, size);
  }
}

Blocks::~Blocks() {
  free_all_but_every(0);
}

void Blocks::free_all_but_every(std::size_t keep) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (keep != 0 && i % keep == 0) continue;
    std::free(blocks_[i]);
    blocks_[i] = nullptr;
  }
}

void clean_as_nvflare() {
  if (dlsym(RTLD_DEFAULT, "mallctl") != nullptr) return;
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (libc == nullptr) return;
  if (auto trim = reinterpret_cast<int (*)(std::size_t)>(dlsym(libc, "malloc_trim"))) trim(0);
  dlclose(libc);
}

}  // namespace ebb::bench
