// SPDX-License-Identifier: Apache-2.0
#include "sense/cpu.h"

#include <gtest/gtest.h>

#include <ctime>

#include "recorded.h"
#include "support/child_process.h"
#include "support/fake_clock.h"

namespace ebb::sense {
namespace {

using base::Code;

/// /proc/PID/stat of a process that started at tick 10000 (100 s after boot).
std::string stat_text(int user_ticks, int system_ticks, int start_ticks = 10'000) {
  return "100 (train) R 1 1 1 0 -1 0 0 0 0 0 " + std::to_string(user_ticks) + " " +
         std::to_string(system_ticks) + " 0 0 20 0 1 0 " + std::to_string(start_ticks) + " 0 0\n";
}

void burn(double seconds) {
  const auto used = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  const double end = used() + seconds;
  while (used() < end) {
  }
}

TEST(ProcessCpuMeter, ComparesWithThePreviousReading) {
  const CopiedTree tree("none");
  support::FakeClock clock;
  clock.advance_seconds(109);  // 110 s after boot, the clock starts at one
  ProcessCpuMeter meter(kRecorded, tree.roots(), clock);

  tree.write("proc/100/stat", stat_text(150, 50));
  EXPECT_NEAR(*meter.read(), 20.0, 0.01) << "two seconds in the ten since it started";

  clock.advance_seconds(2);
  tree.write("proc/100/stat", stat_text(650, 150));
  EXPECT_NEAR(*meter.read(), 300.0, 0.01) << "six seconds in two: three cores";

  clock.advance_seconds(0.001);
  EXPECT_NEAR(*meter.read(), 300.0, 0.01) << "too soon to say anything new";

  clock.advance_seconds(1);
  EXPECT_NEAR(*meter.read(), 0.0, 0.01) << "idle since";
}

TEST(ProcessCpuMeter, DoesNotFollowANumberToAnotherProcess) {
  const CopiedTree tree("none");
  support::FakeClock clock;
  clock.advance_seconds(200);
  ProcessCpuMeter meter(kRecorded, tree.roots(), clock);
  tree.write("proc/100/stat", stat_text(1, 1));
  ASSERT_TRUE(meter.read());
  tree.write("proc/100/stat", stat_text(1, 1, 15'000));
  const auto other = meter.read();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::not_found);
  tree.remove("proc/100");
  const auto gone = meter.read();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message.find("process 100 has ended"), 0U) << gone.error().message;
}

TEST(ProcessCpuMeter, ReadsThisProcess) {
  ProcessCpuMeter meter;
  const auto since_start = meter.read();
  ASSERT_TRUE(since_start);
  EXPECT_GE(*since_start, 0);
  burn(0.1);
  const auto busy = meter.read();
  ASSERT_TRUE(busy);
  EXPECT_GT(*busy, 0);
}

TEST(ProcessCpuMeter, SaysThatThereIsNoSuchProcess) {
  ProcessCpuMeter meter(0x3fffffff);
  const auto reading = meter.read();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, Code::not_found);
  EXPECT_EQ(reading.error().message.find("no process with pid 1073741823"), 0U);
}

TEST(MachineCpuMeter, ComparesWithThePreviousReading) {
  const CopiedTree tree("none");
  MachineCpuMeter meter(tree.roots());
  tree.write("proc/stat", "cpu  60 10 20 800 100 5 3 2 50 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  EXPECT_NEAR(*meter.read(), 10.0, 0.01) << "since boot, idle and waiting left out";
  tree.write("proc/stat", "cpu  160 10 20 850 150 5 3 2 50 0\n");
  EXPECT_NEAR(*meter.read(), 50.0, 0.01);
  EXPECT_NEAR(*meter.read(), 50.0, 0.01) << "no tick since";
  tree.write("proc/stat", "cpu  160 10\n");
  const auto broken = meter.read();
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, Code::bad_input);
}

TEST(MachineCpuMeter, ReadsThisMachine) {
  MachineCpuMeter meter;
  const auto reading = meter.read();
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_GT(*reading, 0);
  EXPECT_LE(*reading, 100);
}

}  // namespace
}  // namespace ebb::sense
