// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string_view>

namespace ebb::support {

/// Whether cases with many trials do all of them: `make test-long` sets EBB_TEST_EFFORT=full.
inline bool is_thorough() {
  const char* effort = std::getenv("EBB_TEST_EFFORT");
  return effort != nullptr && std::string_view(effort) == "full";
}

/// How many trials a case does.
inline int trials(int quick, int all) {
  return is_thorough() ? all : quick;
}

}  // namespace ebb::support
