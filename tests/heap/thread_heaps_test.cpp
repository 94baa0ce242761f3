// SPDX-License-Identifier: Apache-2.0
#include "heap/thread_heaps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>

#include "base/bytes.h"

namespace ebb::heap {
namespace {

using base::kMiB;

/// A process's memory, as far as glibc's headers go; addresses are in MiB.
class Memory {
 public:
  /// The first heap of an arena: its state follows the header, of 32 bytes or, since 2.35, of 48.
  Memory& first(std::uint64_t at, std::uint64_t size, std::uint64_t header = 48) {
    return put(at, {at * kMiB + header, 0, size * kMiB, size * kMiB});
  }
  Memory& next(std::uint64_t at, std::uint64_t size, std::uint64_t previous, std::uint64_t first) {
    return put(at, {first * kMiB + 48, previous * kMiB, size * kMiB, 64 * kMiB});
  }
  Memory& put(std::uint64_t at, std::array<std::uint64_t, 4> words) {
    headers_[at * kMiB] = words;
    return *this;
  }

  std::vector<ArenaRange> heaps(const std::vector<Mapping>& mappings) const {
    return thread_heaps(mappings, [&](std::uint64_t address, void* target, std::size_t size) {
      const auto found = headers_.find(address);
      if (found == headers_.end() || size > sizeof found->second) return false;
      std::memcpy(target, found->second.data(), size);
      return true;
    });
  }

 private:
  std::map<std::uint64_t, std::array<std::uint64_t, 4>> headers_;
};

Mapping mib(std::uint64_t start, std::uint64_t size) {
  Mapping mapping;
  mapping.start = start * kMiB;
  mapping.end = (start + size) * kMiB;
  mapping.readable = mapping.writable = true;
  return mapping;
}

ArenaRange range(std::uint64_t start, std::uint64_t size) {
  return {start * kMiB, (start + size) * kMiB};
}

using Ranges = std::vector<ArenaRange>;

TEST(ThreadHeaps, AreFoundByTheirHeaders) {
  EXPECT_EQ(Memory().first(640, 10).heaps({mib(640, 10), mib(1000, 8)}), Ranges{range(640, 10)});
  EXPECT_EQ(Memory().first(640, 10, 32).heaps({mib(640, 10)}), Ranges{range(640, 10)}) << "old";
}

TEST(ThreadHeaps, AreWholeWhereHugePagesSplitTheirMappings) {
  const std::vector<Mapping> split = {mib(640, 2), mib(642, 6), mib(648, 2)};
  EXPECT_EQ(Memory().first(640, 10).heaps(split), Ranges{range(640, 10)});
}

TEST(ThreadHeaps, AreFoundWhenFullAndJoinedWithTheirNeighbours) {
  // 5 MiB of somebody else, a full heap, the next heap of the same arena.
  const Memory memory = Memory().first(640, 64).next(704, 10, 640, 640);
  EXPECT_EQ(memory.heaps({mib(635, 79)}), (Ranges{range(640, 64), range(704, 10)}));
}

TEST(ThreadHeaps, EndWhereTheArenaEndsThoughMoreIsAccessible) {
  const std::uint64_t at = 640 * kMiB;
  EXPECT_EQ(Memory().put(640, {at + 48, 0, 10 * kMiB, 40 * kMiB}).heaps({mib(640, 40)}),
            Ranges{range(640, 10)});
}

TEST(ThreadHeaps, LeaveOutWhatHasNoHeader) {
  const std::uint64_t at = 640 * kMiB;
  const std::vector<Mapping> all = {mib(640, 64)};
  EXPECT_TRUE(Memory().heaps(all).empty()) << "cannot be read";
  EXPECT_TRUE(Memory().put(640, {0, 0, 0, 0}).heaps(all).empty());
  EXPECT_TRUE(Memory().put(640, {at + 48, 0, 10, 64 * kMiB}).heaps(all).empty()) << "no pages";
  EXPECT_TRUE(Memory().put(640, {at + 48, 0, 20 * kMiB, 10 * kMiB}).heaps(all).empty())
      << "more in use than accessible";
  EXPECT_TRUE(Memory().put(640, {at + 48, 0, 65 * kMiB, 65 * kMiB}).heaps(all).empty());
  EXPECT_TRUE(Memory().put(640, {at + 8192, 0, 10 * kMiB, 10 * kMiB}).heaps(all).empty())
      << "the arena is not behind the header";
  EXPECT_TRUE(Memory().next(640, 10, 576, 576).heaps(all).empty()) << "its arena is nowhere";
  EXPECT_TRUE(Memory().put(640, {at + 48, 576 * kMiB, 10 * kMiB, 10 * kMiB}).heaps(all).empty())
      << "the first heap has none before it";
}

TEST(ThreadHeaps, LeaveOutMappingsThatAreNotMallocs) {
  const Memory memory = Memory().first(640, 10);
  Mapping file = mib(640, 10);
  file.inode = 7;
  Mapping shared = mib(640, 10);
  shared.shared = true;
  Mapping reserved = mib(640, 10);
  reserved.readable = reserved.writable = false;
  EXPECT_TRUE(memory.heaps({file, shared, reserved}).empty());
  EXPECT_TRUE(memory.heaps({mib(640, 1 << 20)}).empty()) << "a terabyte";
}

TEST(ReadOwnMemory, ReadsWhatIsThereAndSaysWhatIsNot) {
  const std::uint64_t value = 0x1234567890abcdef;
  std::uint64_t copy = 0;
  EXPECT_TRUE(read_own_memory(reinterpret_cast<std::uint64_t>(&value), &copy, sizeof copy));
  EXPECT_EQ(copy, value);
  void* gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  munmap(gone, 4096);
  EXPECT_FALSE(read_own_memory(reinterpret_cast<std::uint64_t>(gone), &copy, sizeof copy));
}

}  // namespace
}  // namespace ebb::heap
