// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ebb::base {

inline constexpr double kHour = 3600;  // seconds

/// Reads "250ms", "1s", "1.5 min", "2h", "1d"; a bare number is seconds. Gives seconds, above zero
/// and at most ten years. Fails on anything else, naming what was read.
Result<double> parse_duration(std::string_view text);

/// For people: "250 ms", "1.5 s", "12 min", "3.2 h", "5.0 d".
std::string duration_text(double seconds);

}  // namespace ebb::base
