// SPDX-License-Identifier: Apache-2.0
#include "sum/widest.h"

#include <atomic>

namespace ebb::sum {
namespace {

bool processor_has_them() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

std::atomic<bool>& in_use() {
  static std::atomic<bool> use = processor_has_them();
  return use;
}

}  // namespace

bool wide_vectors() {
  return in_use().load(std::memory_order_relaxed);
}

bool use_wide_vectors(bool on) {
  in_use() = on && processor_has_them();
  return wide_vectors();
}

}  // namespace ebb::sum
