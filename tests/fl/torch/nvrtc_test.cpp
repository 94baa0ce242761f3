// SPDX-License-Identifier: Apache-2.0
#include "fl/torch/nvrtc.h"

#include "fl/torch/card_kernels.h"
#include "support/temporary_directory.h"

namespace ebb::fl {
namespace {

TEST(Nvrtc, IsLookedForBesideLibtorchAndInTheSystem) {
  const std::vector<std::string> names = Nvrtc::names();
  EXPECT_TRUE(names.front().starts_with("/")) << names.front();
  EXPECT_TRUE(names.front().ends_with("/libcaffe2_nvrtc.so")) << names.front();
  EXPECT_EQ(names.back(), "libnvrtc.so");
}

TEST(Nvrtc, ThatIsNowhereIsSaidToBeMissing) {
  const support::TemporaryDirectory empty;
  const auto opened = Nvrtc::open({empty / "libcaffe2_nvrtc.so", empty / "libnvrtc.so"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::unavailable);
  EXPECT_EQ(opened.error().message, "no compiler (libnvrtc.so) was found");
}

TEST(Nvrtc, ThatIsAnotherLibraryIsSaidToBeNone) {
  const support::TemporaryDirectory empty;
  const auto opened = Nvrtc::open({empty / "libnvrtc.so", "libm.so.6"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "libm.so.6 is no compiler (NVRTC)");
}

TEST(CardKernels, AreNoneWhereTheHostComputes) {
  EXPECT_EQ(CardKernels::of(at::kCPU), nullptr);
}

TEST(CardKernels, WhoseAbsenceMattersIsSaidOnce) {
  if (CardKernels::of(at::Device(at::kCUDA)) != nullptr) GTEST_SKIP() << "they are here";
  const std::string line = CardKernels::line_of_their_absence();
  EXPECT_TRUE(line.starts_with("the GPU computes with libtorch's operations alone")) << line;
  EXPECT_EQ(CardKernels::line_of_their_absence(), "");
}

}  // namespace
}  // namespace ebb::fl
