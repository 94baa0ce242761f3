// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <thread>

#include "base/bytes.h"
#include "conformance/cuda_workbench.h"
#include "support/fake_cuda.h"

namespace ebb::device {
namespace {

using base::Code;
using base::kGiB;
using base::kMiB;
using conformance::CudaWorkbench;

constexpr cuda::Result kIllegalAddress = 700;

class CudaDriverTest : public testing::Test {
 protected:
  void open() {
    auto opened = CudaDriver::open(EBB_FAKE_CUDA);
    ASSERT_TRUE(opened) << opened.error().message;
    driver = std::move(*opened);
  }

  support::FakeCuda library;
  std::unique_ptr<CudaDriver> driver;
};

TEST(CudaDriverOpen, SaysThatThereIsNoDriver) {
  const auto driver = CudaDriver::open("/no/such/libcuda.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::unavailable);
  EXPECT_EQ(driver.error().message.rfind("CUDA driver not found: ", 0), 0u);
  EXPECT_NE(driver.error().message.find("/no/such/libcuda.so.1"), std::string::npos);
}

TEST(CudaDriverOpen, NamesTheFunctionThatAnOldDriverLacks) {
  const auto driver = CudaDriver::open(EBB_FAKE_CUDA_WITHOUT_MAP);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::unavailable);
  EXPECT_NE(driver.error().message.find("has no cuMemMap"), std::string::npos)
      << driver.error().message;
}

TEST(CudaDriverOpen, SaysThatThereIsNoDevice) {
  const auto driver = CudaDriver::open(EBB_FAKE_CUDA_WITHOUT_DEVICE);
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Code::unavailable);
  EXPECT_EQ(driver.error().native, cuda::kNoDevice);
  EXPECT_NE(driver.error().message.find("CUDA_ERROR_NO_DEVICE"), std::string::npos);
}

TEST_F(CudaDriverTest, IsUnavailableWhereTheLibraryCannotStart) {
  for (const cuda::Result result : {cuda::kStubLibrary, 999}) {
    library.fail("cuInit", 0, 1, result);
    const auto refused = CudaDriver::open(EBB_FAKE_CUDA);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    EXPECT_EQ(refused.error().native, result);
  }
}

TEST_F(CudaDriverTest, IsNotOpenedWhenADeviceCannotBeRead) {
  for (const char* function : {"cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem",
                               "cuDeviceGetAttribute", "cuMemGetAllocationGranularity"}) {
    library.fail(function, 0, 1, kIllegalAddress);
    const auto refused = CudaDriver::open(EBB_FAKE_CUDA);
    ASSERT_FALSE(refused) << function;
    EXPECT_EQ(refused.error().native, kIllegalAddress);
    EXPECT_NE(refused.error().message.find(function), std::string::npos);
  }
}

TEST_F(CudaDriverTest, MakesAContextOnlyWhenADeviceIsUsed) {
  open();
  EXPECT_EQ(driver->device_count(), 2);
  EXPECT_EQ(driver->info(1)->name, "fake GPU 1");
  EXPECT_EQ(library.live_objects(), 0u) << "looking makes no context";
  ASSERT_TRUE(driver->memory(1));
  ASSERT_TRUE(driver->memory(1));
  EXPECT_EQ(library.calls("cuDevicePrimaryCtxRetain"), 1u);
}

TEST_F(CudaDriverTest, LeavesTheCurrentContextAsItWas) {
  open();
  const auto bench = CudaWorkbench::open(EBB_FAKE_CUDA);
  ASSERT_TRUE(bench);
  const auto current = [&] {
    cuda::Context context = nullptr;
    EXPECT_EQ((*bench)->cuCtxGetCurrent(&context), cuda::kSuccess);
    return context;
  };
  const auto use = [&] {
    const auto segment = driver->allocate(1, 2 * kMiB);
    ASSERT_TRUE(segment);
    EXPECT_TRUE(driver->release(1, *segment, 2 * kMiB));
    EXPECT_FALSE(driver->release(1, *segment, 2 * kMiB));
    EXPECT_FALSE(driver->allocate(1, 2 * kGiB));
  };
  use();
  EXPECT_EQ(current(), nullptr);
  ASSERT_EQ((*bench)->api.cuCtxPushCurrent((*bench)->context), cuda::kSuccess);
  use();
  EXPECT_EQ(current(), (*bench)->context);
  cuda::Context popped = nullptr;
  ASSERT_EQ((*bench)->api.cuCtxPopCurrent(&popped), cuda::kSuccess);
  EXPECT_EQ(popped, (*bench)->context);
  EXPECT_EQ(current(), nullptr);
}

TEST_F(CudaDriverTest, CarriesTheDriversCodeAndTheSizesOfOutOfMemory) {
  open();
  ASSERT_TRUE(driver->allocate(0, 256 * kMiB));
  const auto full = driver->allocate(0, kGiB);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::out_of_memory);
  EXPECT_EQ(full.error().native, cuda::kOutOfMemory);
  EXPECT_EQ(full.error().message,
            "cuda device 0: cuMemAlloc of 1.0 GiB with 768.0 MiB of 1.0 GiB left: "
            "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory");
}

TEST_F(CudaDriverTest, OtherRefusalsAreInputOutput) {
  open();
  library.fail("cuCtxSynchronize", 0, 1, kIllegalAddress);
  const auto refused = driver->synchronize(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::io);
  EXPECT_EQ(refused.error().native, kIllegalAddress);
}

TEST_F(CudaDriverTest, UndoesAMappingThatFailsAnywhere) {
  open();
  const auto range = driver->reserve(0, 20 * kMiB);
  ASSERT_TRUE(range);
  const std::uint64_t live = library.live_objects();
  const auto fails_at = [&](const char* function, std::uint64_t after) {
    library.fail(function, after, 1, cuda::kOutOfMemory);
    const auto failed = driver->map(0, *range, 2 * kMiB, 4);
    ASSERT_FALSE(failed) << function;
    EXPECT_EQ(failed.error().code, Code::out_of_memory);
  };
  for (const std::uint64_t after : {0u, 2u}) {
    fails_at("cuMemCreate", after);
    EXPECT_EQ(library.live_objects(), live);
    fails_at("cuMemMap", after);
    EXPECT_EQ(library.live_objects(), live);
  }
  fails_at("cuMemSetAccess", 0);
  EXPECT_EQ(library.live_objects(), live);
  EXPECT_EQ(driver->memory(0)->free, kGiB);
  fails_at("cuMemRelease", 2);
  EXPECT_EQ(library.live_objects(), live + 1) << "the handle that the library does not let go";
  EXPECT_TRUE(driver->map(0, *range, 2 * kMiB, 4));
}

TEST_F(CudaDriverTest, KnowsWhichPagesARefusedUnmapLeft) {
  open();
  const auto range = driver->reserve(0, 20 * kMiB);
  ASSERT_TRUE(range);
  ASSERT_TRUE(driver->map(0, *range, 2 * kMiB, 4));
  library.fail("cuMemUnmap", 2, 1, kIllegalAddress);
  const auto failed = driver->unmap(0, *range, 2 * kMiB, 4);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::io);
  EXPECT_FALSE(driver->unmap(0, *range, 2 * kMiB, 1)) << "gone already";
  EXPECT_TRUE(driver->unmap(0, *range + 4 * kMiB, 2 * kMiB, 2));
  EXPECT_TRUE(driver->unreserve(0, *range, 20 * kMiB));
}

TEST_F(CudaDriverTest, KeepsASegmentThatTheLibraryDoesNotTakeBack) {
  open();
  const auto segment = driver->allocate(0, 2 * kMiB);
  ASSERT_TRUE(segment);
  library.fail("cuMemFree", 0, 1, kIllegalAddress);
  EXPECT_FALSE(driver->release(0, *segment, 2 * kMiB));
  EXPECT_TRUE(driver->release(0, *segment, 2 * kMiB));
}

TEST_F(CudaDriverTest, GivesEverythingBackWhenItDies) {
  open();
  ASSERT_TRUE(driver->allocate(0, 2 * kMiB));
  ASSERT_TRUE(driver->allocate(1, 2 * kMiB));
  const auto range = driver->reserve(0, 20 * kMiB);
  ASSERT_TRUE(range);
  ASSERT_TRUE(driver->map(0, *range + 2 * kMiB, 4 * kMiB, 2));
  const auto event = driver->record_event(0, 0);
  ASSERT_TRUE(event);
  ASSERT_TRUE(driver->record_event(0, 0));
  ASSERT_TRUE(driver->destroy_event(0, *event));
  // Someone else holds the context, so that it is not the context's end that frees.
  const auto bench = CudaWorkbench::open(EBB_FAKE_CUDA);
  ASSERT_TRUE(bench);
  driver.reset();
  EXPECT_EQ(library.live_objects(), 3u) << "the workbench's context, stream and flag";
}

TEST_F(CudaDriverTest, UsesDestroyedEventsAgain) {
  open();
  for (int i = 0; i < 10; ++i) {
    const auto event = driver->record_event(0, 0);
    ASSERT_TRUE(event);
    ASSERT_TRUE(driver->destroy_event(0, *event));
  }
  EXPECT_EQ(library.calls("cuEventCreate"), 1u);
  EXPECT_EQ(library.calls("cuEventRecord"), 10u);
  library.fail("cuEventRecord", 0, 1, kIllegalAddress);
  EXPECT_FALSE(driver->record_event(0, 0));
  EXPECT_TRUE(driver->record_event(0, 0));
  EXPECT_EQ(library.calls("cuEventCreate"), 1u) << "a failed recording loses no event";
}

TEST_F(CudaDriverTest, WorksWhileAGraphIsCaptured) {
  open();
  const auto opened = CudaWorkbench::open(EBB_FAKE_CUDA);
  ASSERT_TRUE(opened);
  CudaWorkbench& bench = **opened;
  const auto stream = reinterpret_cast<StreamId>(bench.stream);
  const auto event = driver->record_event(0, 0);
  ASSERT_TRUE(event);
  ASSERT_EQ(bench.cuStreamBeginCapture(bench.stream, 0), cuda::kSuccess);
  EXPECT_TRUE(*driver->is_capturing(0, stream));
  EXPECT_FALSE(*driver->is_capturing(0, 0));
  const auto segment = driver->allocate(0, 2 * kMiB);
  ASSERT_TRUE(segment);
  EXPECT_TRUE(driver->event_done(0, *event));
  EXPECT_TRUE(driver->release(0, *segment, 2 * kMiB));
  conformance::GraphTag* graph = nullptr;
  EXPECT_EQ(bench.cuStreamEndCapture(bench.stream, &graph), cuda::kSuccess)
      << "the capture went on undisturbed";
  int mode = 0;
  ASSERT_EQ(bench.api.cuThreadExchangeStreamCaptureMode(&mode), cuda::kSuccess);
  EXPECT_EQ(mode, 0) << "the thread's capture mode is what it was";
}

TEST_F(CudaDriverTest, TheDefaultStreamIsNotCapturingThoughACaptureExcludesIt) {
  open();
  library.fail("cuStreamIsCapturing", 0, 1, cuda::kStreamCaptureImplicit);
  const auto capturing = driver->is_capturing(0, 0);
  ASSERT_TRUE(capturing);
  EXPECT_FALSE(*capturing);
}

TEST_F(CudaDriverTest, ServesSegmentsWithoutVirtualMemory) {
  library.set_virtual_memory(false);
  open();
  EXPECT_FALSE(driver->info(0)->virtual_memory);
  EXPECT_TRUE(driver->allocate(0, 2 * kMiB));
  const auto range = driver->reserve(0, 2 * kMiB);
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, Code::unavailable);
}

TEST_F(CudaDriverTest, ReportsAContextThatCannotBeMade) {
  open();
  library.fail("cuDevicePrimaryCtxRetain", 0, 1, cuda::kOutOfMemory);
  const auto refused = driver->allocate(0, 2 * kMiB);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::out_of_memory);
  EXPECT_TRUE(driver->allocate(0, 2 * kMiB)) << "the next call tries again";
}

int exit_status(const std::string& command) {
  const int status = std::system((command + " > /dev/null 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DriverCheckProgram, ExitsByWhatItFound) {
  const std::string program = EBB_DRIVER_CHECK;
  EXPECT_EQ(exit_status(program + " " EBB_FAKE_CUDA), 0);
  EXPECT_EQ(exit_status(program + " /no/such/libcuda.so.1"), 3);
  EXPECT_EQ(exit_status(program + " " EBB_FAKE_CUDA_WITHOUT_DEVICE), 3);
}

TEST(DriverCheckProgram, LoadsTheDriverThatTheLinkerFinds) {
  const std::string library = EBB_FAKE_CUDA;
  const std::string folder = library.substr(0, library.rfind('/'));
  EXPECT_EQ(exit_status("LD_LIBRARY_PATH=" + folder + " " EBB_DRIVER_CHECK), 0);
}

}  // namespace
}  // namespace ebb::device
