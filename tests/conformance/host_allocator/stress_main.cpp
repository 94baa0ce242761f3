// SPDX-License-Identifier: Apache-2.0
// 16 threads allocate and free at full speed while cleanups run: nothing hangs, nothing is
// damaged. Usage: allocator_stress SECONDS; the allocator comes by LD_PRELOAD.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "keep/cleanup.h"
#include "sense/process.h"

namespace {

constexpr int kThreads = 16;
constexpr std::size_t kSlots = 256;

/// A block that knows its size and carries a pattern by which damage is seen.
struct Block {
  unsigned char* bytes = nullptr;
  std::size_t size = 0;
  unsigned char mark = 0;
};

bool intact(const Block& block) {
  return block.bytes[0] == block.mark && block.bytes[block.size / 2] == block.mark &&
         block.bytes[block.size - 1] == block.mark;
}

void churn(unsigned seed, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& operations,
           std::atomic<bool>& damaged) {
  std::mt19937 random(seed);
  std::vector<Block> blocks(kSlots);
  while (!stop) {
    Block& block = blocks[random() % kSlots];
    if (block.bytes != nullptr) {
      if (!intact(block)) damaged = true;
      std::free(block.bytes);
      block.bytes = nullptr;
    } else {
      block.size = 1 + random() % (random() % 16 == 0 ? 1'000'000U : 4'000U);
      block.mark = static_cast<unsigned char>(random());
      block.bytes = static_cast<unsigned char*>(std::malloc(block.size));
      if (block.bytes == nullptr) std::abort();
      std::memset(block.bytes, block.mark, block.size);
    }
    operations.fetch_add(1, std::memory_order_relaxed);
  }
  for (const Block& block : blocks)
    std::free(block.bytes);
}

}  // namespace

int main(int count, char** words) {
  using namespace ebb;
  const double seconds = count == 2 ? std::atof(words[1]) : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: %s SECONDS\n", words[0]);
    return 2;
  }
  base::ReclaimerRegistry reclaimers;
  keep::Cleaner cleaner(heap::host_allocator(), reclaimers,
                        [] { return sense::read_rss_fast().value_or(0); });
  std::atomic<bool> stop{false};
  std::atomic<bool> damaged{false};
  std::atomic<std::uint64_t> operations{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] { churn(20261115 + i, stop, operations, damaged); });
  const std::int64_t start = base::system_clock().now_ns();
  int cleanups = 0;
  while (base::seconds_between(start, base::system_clock().now_ns()) < seconds) {
    static_cast<void>(cleaner.clean({.deep = cleanups % 2 == 1}));
    cleaner.allocator().set_pressure(cleanups % 4 < 2);
    ++cleanups;
  }
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%s: %d cleanups among %llu operations of %d threads, %s\n",
              heap::name_of(cleaner.allocator().kind()), cleanups,
              static_cast<unsigned long long>(operations.load()), kThreads,
              damaged ? "memory was DAMAGED" : "nothing damaged");
  return damaged || operations == 0 || cleanups == 0 ? 1 : 0;
}
