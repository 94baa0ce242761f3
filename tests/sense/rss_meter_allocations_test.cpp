// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/bytes.h"
#include "sense/process.h"

// A file of its own, which the build for the thread sanitizer leaves out: that one has operators of
// its own.

namespace {
std::atomic<std::uint64_t> allocations{0};
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace ebb::sense {
namespace {

TEST(RssMeter, AllocatesNothing) {
  const auto meter = RssMeter::for_self();
  ASSERT_TRUE(meter);
  const std::uint64_t before = allocations;
  std::uint64_t sum = 0;
  for (int i = 0; i < 100; ++i) {
    const auto rss = meter->read();
    if (rss) sum += *rss;
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(sum, 100 * base::kMiB);
}

}  // namespace
}  // namespace ebb::sense
