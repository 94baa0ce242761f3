// SPDX-License-Identifier: Apache-2.0
#include "sites/unwind.h"

#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace ebb::sites {
namespace {

struct Walked {
  std::vector<std::uint64_t> ours;
  std::vector<std::uint64_t> libgccs;
};

[[gnu::noinline]] Walked walk_here(std::uint64_t stop = 0) {
  Unwinder unwinder;
  unwinder.prepare();
  unwinder.stop_at(stop);
  Place place{};
  asm volatile("leaq 0(%%rip), %0\nmovq %%rsp, %1\nmovq %%rbp, %2\n"
               : "=&r"(place.pc), "=&r"(place.sp), "=&r"(place.fp));
  Readable memory;
  std::uint64_t calls[kMostNative];
  bool is_joined = false;
  // Nothing is skipped: no module lies at 1.
  const std::size_t count =
      unwinder.walk(place, 1, memory, nullptr, calls, kMostNative, &is_joined);
  EXPECT_EQ(is_joined, stop != 0);
  void* others[64];
  const int found = ::backtrace(others, 64);
  Walked walked;
  walked.ours.assign(calls, calls + count);
  for (int i = 1; i < found; ++i)  // the first is this function
    walked.libgccs.push_back(reinterpret_cast<std::uint64_t>(others[i]));
  return walked;
}

[[gnu::noinline]] Walked deeper(int depth) {
  // A frame that is aligned, and one whose size is not known before.
  alignas(64) volatile char aligned[64] = {};
  auto* const room =
      static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(depth) * 16 + 16));
  room[0] = aligned[0];
  Walked walked = depth == 0 ? walk_here() : deeper(depth - 1);
  aligned[1] = room[0];
  return walked;
}

void expect_same(Walked walked) {
  ASSERT_GE(walked.ours.size(), 3U);
  // A sanitizer has a function of its own between ours and libgcc's.
  auto& others = walked.libgccs;
  others.erase(others.begin(), std::find(others.begin(), others.end(), walked.ours.front()));
  ASSERT_GE(others.size(), 3U);
  // Below main the loader's own frames may end differently.
  const std::size_t both = std::min(walked.ours.size(), others.size()) - 1;
  for (std::size_t i = 0; i < both; ++i)
    EXPECT_EQ(walked.ours[i], others[i]) << i;
  EXPECT_LE(others.size() - both, 2U);
}

TEST(Unwind, FindsTheCallsThatTheCompilersOwnUnwinderFinds) {
  expect_same(walk_here());
  expect_same(deeper(5));
  std::thread([] { expect_same(deeper(3)); }).join();
}

Walked from_sort;
TEST(Unwind, PassesThroughTheCLibrary) {
  int numbers[] = {2, 1};
  std::qsort(numbers, 2, sizeof numbers[0], [](const void*, const void*) {
    from_sort = walk_here();
    return 0;
  });
  expect_same(from_sort);
}

[[gnu::noinline]] Walked called_once() {
  Walked walked = walk_here(reinterpret_cast<std::uint64_t>(&called_once));
  asm volatile("" ::: "memory");
  return walked;
}

TEST(Unwind, EndsInTheFunctionThatItIsToStopAt) {
  EXPECT_TRUE(called_once().ours.empty());
}

TEST(Unwind, AStackOfNonsenseIsReadWithoutHarm) {
  Unwinder unwinder;
  unwinder.prepare();
  std::uint64_t calls[kMostNative];
  bool is_joined = false;
  std::uint64_t noise[64];
  std::uint64_t seed = 88172645463325252ULL;
  for (int round = 0; round < 2000; ++round) {
    for (std::uint64_t& word : noise) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
      word = seed % 3 == 0   ? reinterpret_cast<std::uint64_t>(&walk_here) + seed % 500
             : seed % 3 == 1 ? reinterpret_cast<std::uint64_t>(noise) + seed % 512
                             : seed;
    }
    Readable memory;
    const Place place{noise[0], reinterpret_cast<std::uint64_t>(noise), noise[1]};
    EXPECT_LE(unwinder.walk(place, 1, memory, nullptr, calls, kMostNative, &is_joined),
              kMostNative);
  }
}

}  // namespace
}  // namespace ebb::sites
