// SPDX-License-Identifier: Apache-2.0
#include "sense/pressure.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "recorded.h"
#include "support/child_process.h"

namespace ebb::sense {
namespace {

using base::Code;

constexpr const char* kMachine = "/proc/pressure/memory";

TEST(ReadPressure, TellsWhatWasRecorded) {
  const auto reading = read_pressure(recorded("v2-nested"));
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_DOUBLE_EQ(reading->some.avg10, 0.31);
  EXPECT_DOUBLE_EQ(reading->some.avg60, 0.12);
  EXPECT_DOUBLE_EQ(reading->some.avg300, 0.05);
  EXPECT_EQ(reading->some.total_us, 912345U);
  EXPECT_DOUBLE_EQ(reading->full.avg10, 0.20);
  EXPECT_EQ(reading->full.total_us, 512345U);
}

TEST(ReadPressure, SaysWhereThereIsNone) {
  const auto reading = read_pressure_file("/no/such/memory.pressure");
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, Code::unavailable);
  EXPECT_NE(reading.error().message.find("/no/such/memory.pressure"), std::string::npos);
}

TEST(ReadPressure, NamesWhatIsGarbled) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"none avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", "expected some or full"},
      {"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", "full is missing"},
      {"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", "some is missing"},
      {"some avg10=0.00 avg60=0.00 total=0\n", "three averages and a total"},
      {"some avg10=x avg60=0.00 avg300=0.00 total=0\n", "avg10=: expected a percentage"},
      {"some avg10=-1 avg60=0.00 avg300=0.00 total=0\n", "avg10=: expected a percentage"},
      {"some avg10=0.00 avg60=0.00 avg300=0.00 total=-1\n", "total=: expected microseconds"},
  };
  for (const auto& c : cases) {
    const auto reading = parse_pressure(c.text, "memory.pressure");
    ASSERT_FALSE(reading) << c.text;
    EXPECT_EQ(reading.error().code, Code::bad_input);
    EXPECT_NE(reading.error().message.find(c.message), std::string::npos)
        << reading.error().message;
  }
}

TEST(PressureTrigger, WritesWhatTheKernelReads) {
  const support::TemporaryDirectory directory;
  const std::string path = directory.write("memory.pressure", "");
  ASSERT_TRUE(PressureTrigger::arm(path));
  EXPECT_EQ(*base::read_file(path), std::string("some 150000 2000000\0", 20));
  ASSERT_TRUE(PressureTrigger::arm(path, {true, 70'000, 1'000'000}));
  EXPECT_EQ(base::read_file(path)->substr(0, 20), std::string("full 70000 1000000\0\0", 20));
}

TEST(PressureTrigger, RefusesThresholdsThatCannotBe) {
  for (const PressureTrigger::Threshold& threshold :
       {PressureTrigger::Threshold{false, 0, 2'000'000},
        PressureTrigger::Threshold{false, 100'000, 499'999},
        PressureTrigger::Threshold{false, 100'000, 10'000'001},
        PressureTrigger::Threshold{false, 2'000'001, 2'000'000}}) {
    const auto trigger = PressureTrigger::arm(kMachine, threshold);
    ASSERT_FALSE(trigger);
    EXPECT_EQ(trigger.error().code, Code::bad_input);
  }
}

TEST(PressureTrigger, SaysWhereThereIsNoPressure) {
  const auto trigger = PressureTrigger::arm("/no/such/memory.pressure");
  ASSERT_FALSE(trigger);
  EXPECT_EQ(trigger.error().code, Code::unavailable);
}

TEST(PressureTrigger, ArmsOnThisMachine) {
  const auto trigger = PressureTrigger::arm(kMachine);
  if (!read_pressure()) {
    ASSERT_FALSE(trigger);
    EXPECT_EQ(trigger.error().code, Code::unavailable);
    return;
  }
  ASSERT_TRUE(trigger) << trigger.error().message;
  EXPECT_GE(trigger->descriptor(), 0);
  EXPECT_TRUE(trigger->went_off()) << "an answer, whichever it is";
}

TEST(PressureTrigger, ExplainsWhatTheKernelRefusesWithoutPrivilege) {
  if (!read_pressure()) GTEST_SKIP() << "no pressure on this machine";
  const std::string said = support::said_by_child([]() -> std::string {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return "cannot drop";
    const auto trigger = PressureTrigger::arm(kMachine, {false, 100'000, 1'000'000});
    return trigger ? "armed" : name_of(trigger.error().code) + (": " + trigger.error().message);
  });
  // Kernels before 6.5 want a capability for any window, newer ones a multiple of two seconds.
  const bool refused_window =
      said.find("bad_input: the kernel refused the pressure trigger \"some 100000 1000000\"") == 0;
  const bool refused_all = said.find("not_permitted: ") == 0;
  EXPECT_TRUE(refused_window || refused_all) << said;
}

}  // namespace
}  // namespace ebb::sense
