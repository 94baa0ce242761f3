// SPDX-License-Identifier: Apache-2.0
#include "sense/gpu.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/dynamic_library.h"
#include "support/process_state.h"

namespace ebb::sense {
namespace {

using base::Code;
using base::kGiB;

using Environment = support::ScopedVariable;

std::vector<GpuReading> read_all(const char* library) {
  const auto meter = GpuMeter::open(library);
  EXPECT_TRUE(meter) << meter.error().message;
  if (!meter) return {};
  const auto gpus = meter->read();
  EXPECT_TRUE(gpus) << gpus.error().message;
  return gpus ? *gpus : std::vector<GpuReading>();
}

TEST(GpuMeter, ReadsEveryGpu) {
  const auto gpus = read_all(FAKE_NVML);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].index, 0U);
  EXPECT_EQ(gpus[0].name, "Fake GPU 0");
  EXPECT_EQ(gpus[0].uuid, "GPU-fake-0");
  EXPECT_EQ(gpus[0].total, 80 * kGiB);
  EXPECT_EQ(gpus[0].used, 29 * kGiB);
  EXPECT_EQ(gpus[0].free, 50 * kGiB);
  EXPECT_EQ(gpus[0].reserved, 1 * kGiB);
  EXPECT_EQ(gpus[0].utilization, 37);
  EXPECT_EQ(gpus[0].process, 6 * kGiB) << "both of its partitions, and not the other process";
  EXPECT_EQ(gpus[0].trouble, "");

  EXPECT_EQ(gpus[1].index, 1U);
  EXPECT_EQ(gpus[1].name, "Fake GPU 1");
  EXPECT_EQ(gpus[1].utilization, std::nullopt);
  EXPECT_EQ(gpus[1].process, std::nullopt) << "the driver does not tell";
  EXPECT_EQ(gpus[1].trouble, "") << "what is not supported is no trouble";
}

TEST(GpuMeter, ReadsOtherProcesses) {
  const auto meter = GpuMeter::open(FAKE_NVML);
  ASSERT_TRUE(meter);
  EXPECT_EQ((*meter->read(999'999))[0].process, 20 * kGiB);
  EXPECT_EQ((*meter->read(999'998))[0].process, std::nullopt) << "not listed";
}

TEST(GpuMeter, WorksWithOldDrivers) {
  const auto gpus = read_all(FAKE_NVML_OLD);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].used, 30 * kGiB) << "what the driver keeps is not told apart";
  EXPECT_EQ(gpus[0].reserved, std::nullopt);
  EXPECT_EQ(gpus[0].process, 6 * kGiB) << "from the smaller record";
}

TEST(GpuMeter, ListsMoreProcessesThanExpected) {
  const Environment others("FAKE_NVML_OTHERS", "500");
  EXPECT_EQ(read_all(FAKE_NVML)[0].process, 6 * kGiB);
}

TEST(GpuMeter, FallsBackWhereTheNewerCallFails) {
  const Environment failing("FAKE_NVML", "nvmlDeviceGetMemoryInfo_v2=13");
  const auto gpus = read_all(FAKE_NVML);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].used, 30 * kGiB);
  EXPECT_EQ(gpus[0].reserved, std::nullopt);
  EXPECT_EQ(gpus[0].trouble, "");
}

TEST(GpuMeter, KeepsTheOthersWhenOneGpuFails) {
  const Environment failing("FAKE_NVML", "nvmlDeviceGetHandleByIndex_v2=15");
  const auto gpus = read_all(FAKE_NVML);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].total, 80 * kGiB);
  EXPECT_EQ(gpus[1].total, std::nullopt);
  EXPECT_EQ(gpus[1].trouble, "nvmlDeviceGetHandleByIndex: GPU is lost");
}

TEST(GpuMeter, KeepsTheRestWhenOneCallFails) {
  for (const char* function :
       {"nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v3"}) {
    const Environment failing("FAKE_NVML", std::string(function) + "=999");
    const auto gpus = read_all(FAKE_NVML);
    ASSERT_EQ(gpus.size(), 2U);
    EXPECT_EQ(gpus[0].total, 80 * kGiB) << function;
  }
  const Environment failing("FAKE_NVML",
                            "nvmlDeviceGetMemoryInfo=777,nvmlDeviceGetMemoryInfo_v2=777");
  const auto gpus = read_all(FAKE_NVML);
  EXPECT_EQ(gpus[0].total, std::nullopt);
  EXPECT_EQ(gpus[0].name, "Fake GPU 0");
  EXPECT_EQ(gpus[0].trouble, "nvmlDeviceGetMemoryInfo: error 777");
}

TEST(GpuMeter, SaysWhyThereAreNoReadings) {
  const struct {
    const char* library;
    const char* script;
    const char* message;
  } cases[] = {
      {"/no/such/libnvidia-ml.so.1", "", "no GPU readings: no NVIDIA driver (cannot load"},
      {FAKE_NVML_LACKING, "", "has no function nvmlDeviceGetUUID"},
      {FAKE_NVML, "nvmlInit_v2=9", "the NVIDIA driver is not loaded"},
      {FAKE_NVML, "nvmlInit_v2=999", "NVML cannot start"},
      {FAKE_NVML_OLD, "nvmlInit=9", "the NVIDIA driver is not loaded"},
  };
  for (const auto& c : cases) {
    const Environment failing("FAKE_NVML", c.script);
    const auto meter = GpuMeter::open(c.library);
    ASSERT_FALSE(meter) << c.message;
    EXPECT_EQ(meter.error().code, Code::unavailable);
    EXPECT_NE(meter.error().message.find(c.message), std::string::npos) << meter.error().message;
    EXPECT_EQ(meter.error().message.find('\n'), std::string::npos);
  }
}

TEST(GpuMeter, SaysThatGpusCannotBeCounted) {
  const auto meter = GpuMeter::open(FAKE_NVML);
  ASSERT_TRUE(meter);
  {
    const Environment failing("FAKE_NVML", "nvmlDeviceGetCount_v2=4");
    const auto gpus = meter->read();
    ASSERT_FALSE(gpus);
    EXPECT_EQ(gpus.error().code, Code::not_permitted);
    EXPECT_EQ(gpus.error().message,
              "cannot count GPUs: nvmlDeviceGetCount: Insufficient Permissions");
  }
  EXPECT_TRUE(meter->read()) << "and can the next time";
}

TEST(GpuMeter, StopsTheLibraryOnce) {
  const auto library = base::DynamicLibrary::open(FAKE_NVML);
  ASSERT_TRUE(library);
  const auto users = library->function<int (*)()>("fake_nvml_users");
  ASSERT_NE(users, nullptr);
  {
    auto meter = GpuMeter::open(FAKE_NVML);
    ASSERT_TRUE(meter);
    const GpuMeter moved(*std::move(meter));
    EXPECT_EQ(users(), 1);
    EXPECT_EQ(moved.read()->size(), 2U);
  }
  EXPECT_EQ(users(), 0);
}

TEST(GpuMeter, TakesTheLibraryThatTheEnvironmentNames) {
  const Environment named("EBB_NVML", FAKE_NVML);
  const auto meter = GpuMeter::open();
  ASSERT_TRUE(meter) << meter.error().message;
  EXPECT_EQ(meter->read()->size(), 2U);
}

TEST(GpuMeter, ReadsThisMachineOrSaysWhyNot) {
  const Environment real("EBB_NVML", std::nullopt);
  const auto meter = GpuMeter::open();
  if (!meter) {
    EXPECT_EQ(meter.error().code, Code::unavailable);
    EXPECT_EQ(meter.error().message.find("no GPU readings: "), 0U) << meter.error().message;
    return;
  }
  const auto gpus = meter->read();
  ASSERT_TRUE(gpus) << gpus.error().message;
  for (const GpuReading& gpu : *gpus) {
    EXPECT_FALSE(gpu.name.empty()) << gpu.trouble;
    EXPECT_LE(gpu.used.value_or(0), gpu.total.value_or(UINT64_MAX));
  }
}

}  // namespace
}  // namespace ebb::sense
