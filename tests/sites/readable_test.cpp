// SPDX-License-Identifier: Apache-2.0
#include "sites/readable.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace ebb::sites {
namespace {

TEST(Readable, TellsMappedMemoryFromWhatIsNotThere) {
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::munmap(pages + 4096, 4096), 0);
  ASSERT_EQ(::mprotect(pages + 2 * 4096, 4096, PROT_NONE), 0);
  const auto first = reinterpret_cast<std::uint64_t>(pages);
  pages[4088] = 5;
  Readable memory;
  std::uint64_t value = 0;
  EXPECT_TRUE(memory.read(first + 4088, &value));
  EXPECT_EQ(value, 5U);
  EXPECT_FALSE(memory.read(first + 4089, &value));  // reaches into the hole
  EXPECT_FALSE(memory.read(first + 4096, &value));
  EXPECT_FALSE(memory.read(first + 2 * 4096, &value));
  EXPECT_FALSE(memory.read(0, &value));
  EXPECT_FALSE(memory.read(~std::uint64_t{0} - 3, &value));
  EXPECT_FALSE(memory.holds(first, std::size_t{1} << 40));
  ::munmap(pages, 4096);
  ::munmap(pages + 2 * 4096, 4096);
}

}  // namespace
}  // namespace ebb::sites
