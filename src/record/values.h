// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace ebb::record {

// How values stand in the tables. Times are stored in milliseconds, costs in microseconds, shares
// in hundredths of a percent.

/// The nearest whole number: never negative, whatever is given.
std::int64_t whole(double value);

/// Seconds as stored: never negative, whatever is given.
std::int64_t milliseconds(double seconds);
double seconds_of(std::int64_t milliseconds);

/// The beginning of `text`, at most `bytes` long, not cut within a character.
std::string shortened(const std::string& text, std::size_t bytes);

/// A command as a JSON array, cut after some thousand bytes, and back from its text.
base::Json command_json(const std::vector<std::string>& command);
std::vector<std::string> command_of(const std::string& text);

}  // namespace ebb::record
