// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "fl/comparison.h"

namespace ebb::show {

/// Where the time of a method's rounds goes, in seconds: the mean over all of them.
struct RoundTime {
  struct Part {
    const char* name;
    double seconds = 0;
  };
  double wall = 0;          ///< from one round to the next
  std::vector<Part> parts;  ///< always the same, "other" last
};
RoundTime round_time_of(const fl::MethodRuns& runs);

}  // namespace ebb::show
