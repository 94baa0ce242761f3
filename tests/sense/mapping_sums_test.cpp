// SPDX-License-Identifier: Apache-2.0
#include "sense/mapping_sums.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/mutex.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

using Clock = std::chrono::steady_clock;

/// Only against hanging.
Clock::time_point in_two_minutes() {
  return Clock::now() + std::chrono::minutes(2);
}

constexpr const char* kPython =
    "55d000000000-55d000100000 rw-p 00000000 00:00 0                          [heap]\n"
    "Size:               1024 kB\nRss:                 400 kB\nSwap:                  0 kB\n"
    "7f0000000000-7f0000100000 rw-p 00000000 00:00 0                    [anon:cpython:pymalloc]\n"
    "Rss:                1000 kB\nSwap:                 24 kB\nVmFlags: rd wr mr mw me ac \n"
    "7f0010000000-7f0010800000 rw-p 00000000 00:00 0 \n"
    "Rss:                  64 kB\nSwap:                  0 kB\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
    "Rss:                  12 kB\nSwap:                  0 kB\n";

// As CUDA's driver 580 shows 256 MiB of cuMemHostAlloc.
constexpr const char* kCuda =
    "200800000-204000000 rw-s 00000000 00:06 142                              /dev/nvidiactl\n"
    "Rss:               57344 kB\nSwap:                  0 kB\n"
    "7f389a000000-7f38aa000000 rw-s 00000000 00:01 2052                       /dev/zero (deleted)\n"
    "Rss:              262144 kB\nSwap:                  0 kB\n";

TEST(MappingSums, TellStacksAndNamedArenas) {
  const std::uint64_t in_a_stack = 0x7f0010400000;
  const auto sums = parse_mapping_sums(kPython, {&in_a_stack, 1}, "smaps");
  ASSERT_TRUE(sums) << sums.error().message;
  EXPECT_EQ(sums->stacks, (64U + 12U) << 10);
  EXPECT_EQ(sums->python, 1024U << 10) << "also what was swapped out";
  EXPECT_FALSE(sums->pinned);
}

TEST(MappingSums, TellPinnedMemoryWhereCudaIsUsed) {
  const auto sums = parse_mapping_sums(kCuda, {}, "smaps");
  ASSERT_TRUE(sums) << sums.error().message;
  EXPECT_EQ(sums->pinned, (262144ULL + 57344ULL) << 10);
  EXPECT_EQ(sums->pinned_shared, 262144ULL << 10);
  const std::string shared_only = std::string(kCuda).substr(std::string(kCuda).find("7f389a"));
  const auto none = parse_mapping_sums(shared_only, {}, "smaps");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->pinned) << "shared memory of any process";
}

TEST(MappingSums, RefuseWhatTheKernelDoesNotWrite) {
  for (const char* text : {"", "Rss: 4 kB\n", "nonsense\n",
                           "7f0000000000-7f0000100000 rw-p 0 00:00 0\nRss: many kB\n"}) {
    const auto sums = parse_mapping_sums(text, {}, "smaps");
    ASSERT_FALSE(sums) << text;
    EXPECT_EQ(sums.error().code, base::Code::bad_input);
  }
}

TEST(MappingSums, OfThisProcessHoldTheStackOfAThread) {
  base::Mutex mutex;
  base::Condition changed;
  bool is_deep = false;
  bool is_over = false;
  std::thread deep([&] {
    char block[1 << 20];
    std::memset(block, 1, sizeof block);
    const volatile char* kept = block;
    base::Lock lock(mutex);
    is_deep = kept[0] == 1;
    changed.notify_all();
    while (!is_over)
      changed.wait(mutex);
  });
  {
    base::Lock lock(mutex);
    while (!is_deep)
      changed.wait(mutex);
  }
  // A thread that is about to wait still runs for a moment.
  std::optional<std::uint64_t> stacks;
  for (const auto end = in_two_minutes(); !stacks && Clock::now() < end;) {
    const auto sums = read_mapping_sums();
    ASSERT_TRUE(sums) << sums.error().message;
    stacks = sums->stacks;
    std::this_thread::yield();
  }
  {
    base::Lock lock(mutex);
    is_over = true;
    changed.notify_all();
  }
  deep.join();
  ASSERT_TRUE(stacks);
  EXPECT_GE(*stacks, 1U << 20);
}

TEST(MappingSums, RemembersTheStackOfAThreadThatRunsNow) {
  std::atomic<bool> may_run{false};
  std::atomic<bool> is_running{false};
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!may_run)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_running = true;
    while (!is_over) {
    }
  });
  StackPointers seen;
  std::optional<std::uint64_t> waiting;
  for (const auto end = in_two_minutes(); !waiting && Clock::now() < end;)
    waiting = read_mapping_sums(kSelf, {}, &seen)->stacks;
  may_run = true;
  while (!is_running) {
  }
  const auto running = read_mapping_sums(kSelf, {}, &seen);
  const auto threads = seen.size();
  is_over = true;
  busy.join();
  ASSERT_TRUE(waiting);
  ASSERT_TRUE(running);
  EXPECT_TRUE(running->stacks);
  EXPECT_EQ(threads, 1U);
  support::wait_until_alone();  // it may be listed for a moment
  static_cast<void>(read_mapping_sums(kSelf, {}, &seen));
  EXPECT_TRUE(seen.empty()) << "it is gone";
}

TEST(MappingSums, OfAProcessThatIsNotThereAreAnError) {
  const auto sums = read_mapping_sums(INT32_MAX);
  ASSERT_FALSE(sums);
  EXPECT_EQ(sums.error().code, base::Code::not_found);
}

}  // namespace
}  // namespace ebb::sense
