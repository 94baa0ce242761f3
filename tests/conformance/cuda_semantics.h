// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "conformance/cuda_workbench.h"

namespace ebb::conformance {

/// One way to use the driver library, mostly wrongly, and what it answers. The expected answers
/// were read off a real driver (580.159, H200); the same list run over the fake library keeps the
/// fake as strict as the real one.
struct CudaCase {
  const char* name;
  cuda::Result expected;
  /// With the primary context of device 0 current; leaves nothing behind.
  cuda::Result (*run)(CudaWorkbench& bench);
};

const std::vector<CudaCase>& cuda_cases();

/// Empty when the library answers as expected, else what it answered.
std::string run_case(const CudaCase& test, CudaWorkbench& bench);

}  // namespace ebb::conformance
