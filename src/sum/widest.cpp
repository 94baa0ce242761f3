// SPDX-License-Identifier: Apache-2.0
#include "sum/widest.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>

namespace ebb::sum {
namespace {

/// By the processor's own words: __builtin_cpu_supports needs a library that not every compiler
/// brings.
bool processor_has_them() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kVectorsAndTheirSaving = bit_AVX | bit_OSXSAVE;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  if ((c & kVectorsAndTheirSaving) != kVectorsAndTheirSaving) return false;
  // Whether the system keeps both halves of the vectors when it switches threads.
  constexpr unsigned kHalves = 6;
  unsigned kept = 0;
  __asm__("xgetbv" : "=a"(kept), "=d"(d) : "c"(0));
  if ((kept & kHalves) != kHalves) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_AVX2) != 0;
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
