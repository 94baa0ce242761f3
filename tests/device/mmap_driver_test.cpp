// SPDX-License-Identifier: Apache-2.0
#include "device/mmap_driver.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"

namespace ebb::device {
namespace {

using base::Code;
using base::kGiB;
using base::kMiB;

std::int64_t resident_bytes() {
  const auto text = base::read_file("/proc/self/statm");
  EBB_CHECK(text);
  long pages = 0;
  long resident = 0;
  EBB_CHECK(std::sscanf(text->c_str(), "%ld %ld", &pages, &resident) == 2);
  return resident * 4096;
}

bool is_mapped(Address address, std::uint64_t bytes) {
  return msync(reinterpret_cast<void*>(address), bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

void fill(Address address, std::uint64_t bytes) {
  std::memset(reinterpret_cast<void*>(address), 0x5a, bytes);
}

TEST(MmapDriver, MemoryIsResidentOnlyWhileItIsMappedAndTouched) {
  constexpr std::int64_t kSize = 64 * kMiB;
  constexpr std::int64_t kSlack = 4 * kMiB;
  MmapDriver driver({.capacity = kGiB});
  const auto range = driver.reserve(0, kGiB);
  ASSERT_TRUE(range);
  const std::int64_t before = resident_bytes();
  ASSERT_TRUE(driver.map(0, *range, 2 * kMiB, 32));
  EXPECT_LT(resident_bytes(), before + kSlack) << "mapping touches nothing";
  fill(*range, kSize);
  EXPECT_GT(resident_bytes(), before + kSize - kSlack);
  ASSERT_TRUE(driver.unmap(0, *range, 2 * kMiB, 32));
  EXPECT_LT(resident_bytes(), before + kSlack);
}

TEST(MmapDriver, ReleasedSegmentsLeaveTheProcess) {
  constexpr std::int64_t kSize = 64 * kMiB;
  constexpr std::int64_t kSlack = 4 * kMiB;
  MmapDriver driver({.capacity = kGiB});
  const std::int64_t before = resident_bytes();
  const auto segment = driver.allocate(0, kSize);
  ASSERT_TRUE(segment);
  fill(*segment, kSize);
  EXPECT_GT(resident_bytes(), before + kSize - kSlack);
  ASSERT_TRUE(driver.release(0, *segment, kSize));
  EXPECT_LT(resident_bytes(), before + kSlack);
  EXPECT_FALSE(is_mapped(*segment, kSize));
}

TEST(MmapDriver, PagesMappedAgainAreZero) {
  MmapDriver driver({.capacity = kGiB});
  const auto range = driver.reserve(0, 4 * kMiB);
  ASSERT_TRUE(range);
  ASSERT_TRUE(driver.map(0, *range, 2 * kMiB, 1));
  fill(*range, 2 * kMiB);
  ASSERT_TRUE(driver.unmap(0, *range, 2 * kMiB, 1));
  ASSERT_TRUE(driver.map(0, *range, 2 * kMiB, 1));
  const std::vector<unsigned char> zeros(2 * kMiB);
  EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(*range), zeros.data(), zeros.size()), 0);
}

TEST(MmapDriverDeathTest, AReservationCannotBeTouched) {
  MmapDriver driver({.capacity = kGiB});
  const auto range = driver.reserve(0, 4 * kMiB);
  ASSERT_TRUE(range);
  ASSERT_TRUE(driver.map(0, *range, 2 * kMiB, 1));
  fill(*range, 2 * kMiB);
  EXPECT_DEATH(fill(*range + 2 * kMiB, 1), "");
  ASSERT_TRUE(driver.unmap(0, *range, 2 * kMiB, 1));
  EXPECT_DEATH(fill(*range, 1), "");
}

TEST(MmapDriver, EachDeviceHasItsOwnCapacity) {
  MmapDriver driver({.capacity = 8 * kMiB, .devices = 2});
  ASSERT_TRUE(driver.allocate(0, 8 * kMiB));
  const auto more = driver.allocate(0, 1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::out_of_memory);
  EXPECT_TRUE(driver.allocate(1, 8 * kMiB));
  EXPECT_EQ(driver.memory(0)->free, 0u);
  EXPECT_EQ(driver.memory(0)->total, 8 * kMiB);
}

TEST(MmapDriver, MoreThanTheAddressSpaceIsOutOfMemory) {
  MmapDriver driver({.capacity = UINT64_MAX});
  for (const std::uint64_t bytes : {std::uint64_t{1} << 60, UINT64_MAX - 100}) {
    const auto segment = driver.allocate(0, bytes);
    ASSERT_FALSE(segment);
    EXPECT_EQ(segment.error().code, Code::out_of_memory);
    EXPECT_EQ(segment.error().native, ENOMEM);
  }
}

TEST(MmapDriver, EverythingDiesWithTheDriver) {
  Address segment = 0;
  Address range = 0;
  {
    MmapDriver driver({.capacity = kGiB});
    segment = *driver.allocate(0, 5000);
    range = *driver.reserve(0, 8 * kMiB);
    ASSERT_TRUE(driver.map(0, range + 2 * kMiB, 2 * kMiB, 2));
    fill(range + 2 * kMiB, 4 * kMiB);
    ASSERT_TRUE(is_mapped(segment, 4096));
  }
  EXPECT_FALSE(is_mapped(segment, 4096));
  EXPECT_FALSE(is_mapped(range, 8 * kMiB));
}

TEST(MmapDriver, EventsAreDoneAtOnce) {
  MmapDriver driver({.capacity = kGiB});
  EXPECT_TRUE(*driver.event_done(0, *driver.record_event(0, 3)));
}

}  // namespace
}  // namespace ebb::device
