// SPDX-License-Identifier: Apache-2.0
// What every allocator owes, run once under each real one: $EBB_EXPECTED_ALLOCATOR says which.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/bytes.h"
#include "heap/host_allocator.h"
#include "keep/cleanup.h"
#include "sense/process.h"
#include "support/own_process.h"

namespace ebb::heap {
namespace {

using base::kMiB;

std::string expected() {
  const char* name = std::getenv("EBB_EXPECTED_ALLOCATOR");
  return name == nullptr ? "" : name;
}

/// mimalloc gives back what it was started to give back.
bool gives_back() {
  return expected() != "mimalloc" || std::getenv("MIMALLOC_DECOMMIT_DELAY") != nullptr ||
         std::getenv("MIMALLOC_PURGE_DELAY") != nullptr;
}

std::uint64_t rss() {
  return *sense::read_rss_fast();
}

std::vector<void*> touched_blocks(std::size_t count, std::size_t size) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) {
    block = std::malloc(size);
    std::memset(block, 1, size);
  }
  return blocks;
}

TEST(HostAllocatorConformance, IsTheOneThatWasPreloaded) {
  ASSERT_FALSE(expected().empty()) << "EBB_EXPECTED_ALLOCATOR is not set";
  EXPECT_EQ(name_of(host_allocator().kind()), expected());
  EXPECT_TRUE(host_allocator().controllable());
  EXPECT_FALSE(host_allocator().version().empty());
}

TEST(HostAllocatorConformance, LiveBytesFollowTheProgramOrAreNotTold) {
  if (!support::is_alone()) return;
  HostAllocator& allocator = host_allocator();
  const HeapReading before = allocator.read();
  if (expected() == "mimalloc") {
    EXPECT_FALSE(before.live);
    EXPECT_FALSE(before.cannot_tell.empty()) << "and it says why";
    EXPECT_TRUE(before.mapped);
    return;
  }
  ASSERT_TRUE(before.live && before.retained && before.mapped);
  std::vector<void*> blocks = touched_blocks(2000, 30'000);
  const HeapReading full = allocator.read();
  EXPECT_GE(*full.live, *before.live + 2000 * 30'000);
  EXPECT_LE(*full.live, *before.live + 2000 * 40'000) << "size classes round, not double";
  EXPECT_GE(*full.mapped, *full.live);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i % 200 != 0) std::free(blocks[i]);
  const HeapReading freed = allocator.read();
  EXPECT_LE(*freed.live, *before.live + 2 * kMiB);
  EXPECT_GE(*freed.retained, 40 * kMiB);
  EXPECT_LE(*freed.retained, rss()) << "what is not resident is not retained";
  for (std::size_t i = 0; i < blocks.size(); i += 200)
    std::free(blocks[i]);
}

TEST(HostAllocatorConformance, GiveBackIsSeenInRss) {
  if (!support::is_alone()) return;
  HostAllocator& allocator = host_allocator();
  for (const fact::Depth depth : {fact::Depth::light, fact::Depth::deep}) {
    std::vector<void*> blocks = touched_blocks(4000, 30'000);
    const std::uint64_t full = rss();
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (i % 200 != 0) std::free(blocks[i]);
    const GiveBack done = allocator.give_back(depth);
    EXPECT_TRUE(done.attempted);
    EXPECT_EQ(done.depth, depth);
    EXPECT_FALSE(done.steps.empty());
    if (gives_back()) {
      EXPECT_LE(rss() + 90 * kMiB, full) << name_of(depth);
    }
    for (std::size_t i = 0; i < blocks.size(); i += 200)
      std::free(blocks[i]);
  }
}

TEST(HostAllocatorConformance, ASecondGiveBackHasNothingLeftToDo) {
  if (!support::is_alone()) return;
  for (void* block : touched_blocks(1000, 30'000))
    std::free(block);
  host_allocator().give_back(fact::Depth::deep);
  const std::uint64_t clean = rss();
  host_allocator().give_back(fact::Depth::deep);
  EXPECT_LE(rss(), clean + kMiB);
}

TEST(HostAllocatorConformance, PressureIsSwitchedOnAndOffOnce) {
  if (!support::is_alone()) return;
  HostAllocator& allocator = host_allocator();
  const std::string on = allocator.set_pressure(true);
  EXPECT_NE(on, "");
  EXPECT_EQ(allocator.set_pressure(true), "") << "already on";
  if (expected() == "glibc") {
    // Large blocks go back by themselves, also after one of them was freed before, and also where a
    // small one above keeps the heap from shrinking.
    const std::uint64_t before = rss();
    std::vector<void*> small;
    for (int i = 0; i < 4; ++i) {
      for (void* block : touched_blocks(8, 8 * kMiB)) {
        small.push_back(std::malloc(100));
        std::free(block);
      }
    }
    EXPECT_LE(rss(), before + 2 * kMiB);
    for (void* block : small)
      std::free(block);
  }
  if (expected() == "jemalloc") {
    // Decay of zero: what is freed goes back without any further call.
    const std::uint64_t before = rss();
    for (void* block : touched_blocks(2000, 30'000))
      std::free(block);
    EXPECT_LE(rss(), before + 20 * kMiB);
  }
  EXPECT_NE(allocator.set_pressure(false), "");
  EXPECT_EQ(allocator.set_pressure(false), "") << "already off";
}

TEST(HostAllocatorConformance, DeepReachesTheTopsOfThreadArenas) {
  if (!support::is_alone()) return;
  void* volatile tensor = std::malloc(30 << 20);
  std::free(tensor);  // raises glibc's thresholds, as every training job does
  base::ReclaimerRegistry none;
  keep::Cleaner cleaner(host_allocator(), none, rss);
  const std::uint64_t before = rss();
  std::vector<std::thread> threads;
  std::atomic<int> freed{0};
  std::atomic<bool> may_end{false};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (void* block : touched_blocks(1200, 30'000))
        std::free(block);
      ++freed;
      while (!may_end)
        std::this_thread::yield();
    });
  }
  while (freed < 8)
    std::this_thread::yield();
  const keep::CleanupReport report = cleaner.clean({});
  if (gives_back()) {
    EXPECT_LE(report.measured.after.rss, before + 24 * kMiB);
  } else {
    EXPECT_FALSE(report.notes.empty()) << "it says what would help";
  }
  may_end = true;
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace ebb::heap
