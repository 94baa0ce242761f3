// SPDX-License-Identifier: Apache-2.0
#include "heap/glibc_arenas.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace ebb::heap {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

Mapping mapping(std::uint64_t start_mib, std::uint64_t size_mib, bool accessible,
                const char* name = "") {
  Mapping m;
  m.start = start_mib * kMiB;
  m.end = (start_mib + size_mib) * kMiB;
  m.readable = m.writable = accessible;
  m.name = name;
  return m;
}

std::uint64_t total(const std::vector<ArenaRange>& ranges) {
  std::uint64_t sum = 0;
  for (const ArenaRange& range : ranges)
    sum += range.end - range.start;
  return sum / kMiB;
}

TEST(ArenaRanges, FindsTheMainHeapAndThreadHeaps) {
  const auto ranges = arena_ranges({
      mapping(3, 7, true, "[heap]"), mapping(640, 10, true),  // a thread heap of 10 MiB …
      mapping(650, 54, false),                                // … and what it may still grow into
      mapping(1000, 8, true),                                 // somebody's mapping
  });
  EXPECT_EQ(ranges.size(), 2U);
  EXPECT_EQ(total(ranges), 17U);
}

TEST(ArenaRanges, LeavesOutWhatOnlyLooksSimilar) {
  Mapping file = mapping(640, 10, true, "/some/file");
  file.inode = 7;
  EXPECT_TRUE(arena_ranges({file, mapping(650, 54, false)}).empty());
  EXPECT_TRUE(arena_ranges({mapping(641, 9, true), mapping(650, 54, false)}).empty())
      << "a thread stack with its guard does not start at a multiple of 64 MiB";
  EXPECT_TRUE(arena_ranges({mapping(640, 10, true), mapping(650, 50, false)}).empty());
  EXPECT_TRUE(arena_ranges({mapping(640, 10, true)}).empty());
}

TEST(ArenaRanges, SeparatesHeapsThatTheKernelJoined) {
  // A full heap at 640, one of 10 MiB at 704, and 5 MiB of somebody else in front of both.
  const auto ranges = arena_ranges({mapping(635, 79, true), mapping(714, 54, false)});
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].start, 640 * kMiB);
  EXPECT_EQ(ranges[0].end, 714 * kMiB);
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
