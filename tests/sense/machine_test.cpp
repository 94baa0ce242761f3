// SPDX-License-Identifier: Apache-2.0
#include "sense/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes.h"
#include "recorded.h"

namespace ebb::sense {
namespace {

using base::Code;

TEST(ReadMachine, TellsWhatWasRecorded) {
  const auto machine = read_machine(recorded("v2"));
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->total, 131980916U * base::kKiB);
  EXPECT_EQ(machine->available, 131506956U * base::kKiB);
  EXPECT_EQ(machine->free, 130732856U * base::kKiB);
  EXPECT_EQ(machine->cached, 950064U * base::kKiB);
  EXPECT_EQ(machine->swap_total, 0U);
  EXPECT_EQ(machine->swap_free, 0U);
  EXPECT_EQ(machine->cores, 16U);
  EXPECT_EQ(machine->thp, ThpMode::madvise);
}

TEST(ReadMachine, ReadsThisMachine) {
  const auto machine = read_machine();
  ASSERT_TRUE(machine) << machine.error().message;
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(machine->total, pages * page_size());
  EXPECT_LE(machine->available, machine->total);
  EXPECT_EQ(machine->page_size, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(machine->cores, static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN)));
}

TEST(ReadMachine, LeavesOpenWhatTheKernelDoesNotTell) {
  const CopiedTree tree("v2");
  tree.remove("sys");
  const auto machine = read_machine(tree.roots());
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->cores, std::nullopt);
  EXPECT_EQ(machine->thp, std::nullopt);
}

TEST(ReadMachine, NamesWhatIsGarbled) {
  const struct {
    const char* file;
    const char* content;
    const char* message;
  } cases[] = {
      {"proc/meminfo", "MemTotal: 12 MB\n", "MemTotal: expected a number of kB, got \"12 MB\""},
      {"proc/meminfo", "MemTotal: 12 kB\n", "MemAvailable is missing"},
      {"sys/devices/system/cpu/online", "3-1\n", "a range: expected processors"},
      {"sys/devices/system/cpu/online", "0-99999999999\n", "a range: expected processors"},
      {"sys/kernel/mm/transparent_hugepage/enabled", "always madvise never\n", "in brackets"},
  };
  for (const auto& c : cases) {
    const CopiedTree tree("v2");
    tree.write(c.file, c.content);
    const auto machine = read_machine(tree.roots());
    ASSERT_FALSE(machine) << c.content;
    EXPECT_EQ(machine.error().code, Code::bad_input);
    EXPECT_NE(machine.error().message.find(c.message), std::string::npos)
        << machine.error().message;
    EXPECT_NE(machine.error().message.find(c.file), std::string::npos) << machine.error().message;
  }
}

TEST(ParseCpuList, CountsRangesAndSingleProcessors) {
  EXPECT_EQ(*parse_cpu_list("0-3,8\n", "online"), 5U);
  EXPECT_EQ(*parse_cpu_list("0\n", "online"), 1U);
}

TEST(ParseThp, FindsTheChosenMode) {
  EXPECT_EQ(*parse_thp("[always] madvise never\n", "enabled"), ThpMode::always);
  EXPECT_EQ(*parse_thp("always madvise [never]\n", "enabled"), ThpMode::never);
}

}  // namespace
}  // namespace ebb::sense
