// SPDX-License-Identifier: Apache-2.0
#include "conformance/cuda_semantics.h"

#include <gtest/gtest.h>

#include "support/fake_cuda.h"

namespace ebb::conformance {
namespace {

class FakeLibrary : public testing::TestWithParam<CudaCase> {};

TEST_P(FakeLibrary, AnswersAsTheRealOne) {
  const support::FakeCuda library;
  const auto bench = CudaWorkbench::open(EBB_FAKE_CUDA);
  ASSERT_TRUE(bench) << bench.error().message;
  const std::uint64_t before = library.live_objects();
  EXPECT_EQ(run_case(GetParam(), **bench), "");
  EXPECT_EQ(library.live_objects(), before);
}

INSTANTIATE_TEST_SUITE_P(, FakeLibrary, testing::ValuesIn(cuda_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ebb::conformance
