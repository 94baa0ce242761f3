// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ebb::base {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "ebb: internal error: %s does not hold at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace ebb::base
