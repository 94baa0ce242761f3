// SPDX-License-Identifier: Apache-2.0
#include "heap/glibc_arenas.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/bytes.h"

namespace ebb::heap {
namespace {

using base::kMiB;

Mapping mapping(std::uint64_t start_mib, std::uint64_t size_mib, bool accessible,
                const char* name = "") {
  Mapping m;
  m.start = start_mib * kMiB;
  m.end = (start_mib + size_mib) * kMiB;
  m.readable = m.writable = accessible;
  m.name = name;
  return m;
}

bool unreadable(std::uint64_t, void*, std::size_t) {
  return false;
}

TEST(ArenaRanges, HoldTheMainHeapWhateverCanBeRead) {
  const auto ranges = arena_ranges(
      {mapping(3, 7, true, "[heap]"), mapping(640, 10, true), mapping(650, 54, false)}, unreadable);
  EXPECT_EQ(ranges, (std::vector<ArenaRange>{{3 * kMiB, 10 * kMiB}}));
}

TEST(ResidentBytes, CountsTouchedPagesOnly) {
  const std::size_t size = 32 * kMiB;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(madvise(memory, size, MADV_NOHUGEPAGE), 0);
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  EXPECT_EQ(resident_bytes({{start, start + size}}), 0U);
  std::memset(memory, 1, 3 * kMiB);
  EXPECT_EQ(resident_bytes({{start, start + size}}), 3 * kMiB);
  munmap(memory, size);
  EXPECT_EQ(resident_bytes({{start, start + size}}), 0U) << "gone meanwhile";
}

TEST(ParseMallocInfo, ReadsTheTotalsBehindTheArenas) {
  const auto info = parse_malloc_info(R"(<malloc version="1">
<heap nr="0">
<sizes>
</sizes>
<total type="fast" count="1" size="32"/>
<total type="rest" count="2" size="100"/>
<system type="current" size="135168"/>
</heap>
<heap nr="1">
<total type="fast" count="0" size="0"/>
<total type="rest" count="1" size="900"/>
<system type="current" size="200000"/>
</heap>
<total type="fast" count="1" size="32"/>
<total type="rest" count="3" size="1000"/>
<total type="mmap" count="2" size="4096000"/>
<system type="current" size="335168"/>
<system type="max" size="335168"/>
</malloc>
)");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->arenas, 2U);
  EXPECT_EQ(info->free, 1032U);
  EXPECT_EQ(info->mmapped, 4096000U);
  EXPECT_EQ(info->system, 335168U);
  EXPECT_FALSE(parse_malloc_info(""));
  EXPECT_FALSE(parse_malloc_info("<malloc version=\"1\"></malloc>"));
  EXPECT_FALSE(parse_malloc_info("jemalloc says hello"));
}

}  // namespace
}  // namespace ebb::heap
