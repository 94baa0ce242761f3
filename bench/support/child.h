// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace ebb::bench {

using Environment = std::vector<std::pair<std::string, std::string>>;

/// Runs this very program again with other arguments and a changed environment, since malloc is
/// chosen once per process, and reads the JSON object that it prints. Exits with a message where
/// the child fails: a benchmark with a missing row is worth nothing.
base::Json measure_in_child(const std::vector<std::string>& arguments,
                            const Environment& environment);

/// A number of that object; exits with a message where it is missing.
double number(const base::Json& object, const char* key);

}  // namespace ebb::bench
