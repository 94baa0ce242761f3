// SPDX-License-Identifier: Apache-2.0
#include "fl/pressure_gate.h"

#include "support/fake_allocator.h"
#include "support/fake_clock.h"

namespace ebb::fl {
namespace {

class PressureGateTest : public testing::Test {
 protected:
  PressureGateTest() { execution_.memory = 1000 << 20; }

  /// Of what the process may use; all of it live.
  void set_percent(std::uint64_t percent) { allocator_.live = percent * 10 << 20; }
  /// The gate looks only every so often.
  std::uint32_t allowed(PressureGate& gate, std::uint32_t now) {
    clock_.advance_seconds(1);
    return gate.allowed(now);
  }

  support::FakeClock clock_;
  support::FakeAllocator allocator_{clock_};
  base::ReclaimerRegistry reclaimers_;
  keep::Cleaner cleaner_{allocator_, reclaimers_, [this] { return allocator_.rss(); }, clock_};
  Execution execution_;
};

TEST_F(PressureGateTest, LetsEverybodyWorkWhileThereIsRoom) {
  PressureGate gate(execution_, cleaner_, clock_);
  set_percent(50);
  EXPECT_EQ(allowed(gate, 4), 4U);
  EXPECT_TRUE(gate.has_room());
  EXPECT_TRUE(gate.lines().empty());
}

TEST_F(PressureGateTest, WarnsOnceAndLetsEverybodyWorkOn) {
  PressureGate gate(execution_, cleaner_, clock_);
  set_percent(86);
  EXPECT_EQ(allowed(gate, 4), 4U);
  EXPECT_EQ(allowed(gate, 4), 4U);
  const std::vector<std::string> lines = gate.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("86 %"), std::string::npos) << lines[0];
  EXPECT_FALSE(gate.has_room());
}

TEST_F(PressureGateTest, CleansUpAndThenHasFewerWork) {
  PressureGate gate(execution_, cleaner_, clock_);
  set_percent(95);
  EXPECT_EQ(allowed(gate, 4), 3U);
  EXPECT_GT(allocator_.deep_calls, 0);
  EXPECT_EQ(allowed(gate, 3), 2U);
  EXPECT_EQ(allowed(gate, 2), 1U);
  EXPECT_EQ(allowed(gate, 1), 1U);
  EXPECT_EQ(gate.lines().size(), 3U);
  EXPECT_FALSE(gate.has_room());
  set_percent(40);
  allowed(gate, 1);
  EXPECT_FALSE(gate.has_room()) << "it was tight since the last round";
  EXPECT_TRUE(gate.has_room());
}

TEST_F(PressureGateTest, LeavesEverybodyAtWorkWhereACleanupIsEnough) {
  PressureGate gate(execution_, cleaner_, clock_);
  set_percent(30);
  allocator_.light_reaches = 650U << 20;
  EXPECT_EQ(allowed(gate, 4), 4U);
  EXPECT_EQ(gate.returned(), 650U << 20);
  EXPECT_EQ(gate.returned(), 0U);
}

TEST_F(PressureGateTest, DoesNotLookAtEverySample) {
  PressureGate gate(execution_, cleaner_, clock_);
  set_percent(50);
  EXPECT_EQ(allowed(gate, 4), 4U);
  set_percent(99);
  EXPECT_EQ(gate.allowed(4), 4U) << "no time has passed";
}

}  // namespace
}  // namespace ebb::fl
