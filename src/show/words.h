// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// show: results as people read them: text for a terminal, pages, and JSON where no layer below has
// it. Takes what is known already: it parses no options, reports no errors and replays nothing.
// All functions are pure, SimulateProgress excepted.

namespace ebb::show {

std::string joined(const std::vector<std::string>& pieces, const char* between = " ");

/// Each line with its end.
std::string text_of(const std::vector<std::string>& lines);

/// A number of parameters: "21840", "124.4 M", "6.74 G".
std::string count_text(std::uint64_t count);

/// "2026-11-15 11:37:05", in local time.
std::string local_time_text(double unix_seconds);

/// The allocator's settings as a table shows them.
std::string conf_text(const std::string& conf);

}  // namespace ebb::show
