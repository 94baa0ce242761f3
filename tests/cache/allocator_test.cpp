// SPDX-License-Identifier: Apache-2.0
#include "cache/allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "cache/fixture.h"
#include "device/mmap_driver.h"

namespace ebb::cache {
namespace {

std::unique_ptr<Allocator> make(device::Driver& driver, const char* settings = "") {
  CoreOptions options;
  options.settings = *parse_settings(settings, options.profile);
  auto allocator = Allocator::create(driver, 0, options);
  EXPECT_TRUE(allocator);
  return std::move(*allocator);
}

TEST(Allocator, GivesPyTorchsMessageAsTheError) {
  device::SimDriver driver({.total_memory = kGiB});
  auto allocator = make(driver);
  const auto address = allocator->allocate(2 * kGiB, 0);
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, base::Code::out_of_memory);
  EXPECT_EQ(address.error().message.rfind("CUDA out of memory. Tried to allocate 2.00 GiB.", 0),
            0U);
  const auto nothing = allocator->allocate(0, 0);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, 0U);
}

TEST(Allocator, AWrongSettingsStringChangesNothing) {
  device::SimDriver driver({});
  auto allocator = make(driver, "max_split_size_mb:64");
  EXPECT_FALSE(allocator->apply("max_split_size_mb:abc"));
  EXPECT_EQ(allocator->settings().max_split_size, 64 * kMiB);
  EXPECT_TRUE(allocator->apply("expandable_segments:True"));
  EXPECT_EQ(allocator->settings().max_split_size, kUnlimited);
}

/// Random allocations, frees and looks from several threads, on a device too small for all.
void stress(device::Driver& driver, const char* settings, int threads, int steps) {
  auto allocator = make(driver, settings);
  allocator->record_history({.max_entries = 1000});
  std::atomic<std::uint64_t> served{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Address> mine;
    for (int i = 0; i < steps; ++i) {
      const auto choice = random() % 100;
      if (choice < 50 || mine.empty()) {
        const std::uint64_t bytes = std::uint64_t{1} << (9 + random() % 16);
        const Address address = allocator->try_allocate(bytes + random() % 1000, random() % 3);
        if (address != 0) {
          mine.push_back(address);
          served.fetch_add(1, std::memory_order_relaxed);
        }
      } else if (choice < 95) {
        std::swap(mine[random() % mine.size()], mine.back());
        if (choice < 55) {
          EXPECT_TRUE(allocator->record_stream(mine.back(), 5));
        }
        EXPECT_TRUE(allocator->free(mine.back()));
        mine.pop_back();
      } else if (choice < 97) {
        EXPECT_TRUE(allocator->empty_cache());
      } else {
        allocator->memory_stats();
        allocator->snapshot();
      }
    }
    for (const Address address : mine) {
      EXPECT_TRUE(allocator->free(address));
    }
  };
  std::vector<std::thread> others;
  for (int i = 0; i < threads; ++i) {
    others.emplace_back(work, static_cast<unsigned>(i + 1));
  }
  for (std::thread& thread : others) {
    thread.join();
  }
  EXPECT_TRUE(allocator->empty_cache());
  EXPECT_EQ(allocator->reserved(), 0U);
  EXPECT_EQ(allocator->stats().current(Metric::active), 0);
  EXPECT_GT(served.load(), 0U);
}

TEST(Allocator, StaysConsistentUnderManyThreads) {
  device::SimDriver driver({.total_memory = 512 * kMiB});
  stress(driver, "", 4, 1500);
}

TEST(Allocator, StaysConsistentUnderManyThreadsWithExpandableSegments) {
  device::SimDriver driver({.total_memory = 512 * kMiB});
  stress(driver, "expandable_segments:True", 4, 1500);
}

TEST(Allocator, StaysConsistentWhenTheLockIsReleasedForTheDriver) {
  device::SimDriver driver({.total_memory = 512 * kMiB});
  stress(driver, "release_lock_on_cudamalloc:True,max_split_size_mb:21", 4, 1500);
}

TEST(FastMutex, LetsOneThreadInAtATime) {
  FastMutex mutex;
  std::int64_t counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 20000; ++step) {
        const FastLock lock(mutex);
        ++counter;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(counter, 80000);
}

}  // namespace
}  // namespace ebb::cache
