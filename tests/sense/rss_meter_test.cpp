// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "sense/process.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

using base::kMiB;

/// Memory of this process that a forked child does not get.
class Touched {
 public:
  explicit Touched(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (memory_ == MAP_FAILED || madvise(memory_, bytes, MADV_DONTFORK) != 0) std::abort();
  }
  ~Touched() { munmap(memory_, bytes_); }
  Touched(const Touched&) = delete;
  Touched& operator=(const Touched&) = delete;

 private:
  std::size_t bytes_;
  void* memory_;
};

TEST(RssMeter, FollowsWhatTheProcessHolds) {
  const auto meter = RssMeter::for_self();
  ASSERT_TRUE(meter);
  const auto before = meter->read();
  {
    const Touched touched(64 * kMiB);
    EXPECT_GT(*meter->read(), *before + 56 * kMiB);
  }
  EXPECT_LT(*meter->read(), *before + 8 * kMiB);
}

TEST(RssMeter, ReadsTheChildAfterAFork) {
  const Touched touched(64 * kMiB);
  const auto meter = RssMeter::for_self();
  ASSERT_TRUE(meter);
  const std::string said = support::said_by_child([&] { return std::to_string(*meter->read()); });
  EXPECT_LT(std::stoull(said), *meter->read() - 56 * kMiB);
}

TEST(RssMeter, ServesManyThreads) {
  const auto meter = RssMeter::for_self();
  ASSERT_TRUE(meter);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto rss = meter->read();
        if (!rss || *rss < kMiB) ++failures;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace ebb::sense
