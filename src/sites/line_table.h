// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sites/inlined_calls.h"

namespace ebb::sites {

/// A line of a source file.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  /// Asked with it: where the function begins; 0 where that is not known.
  std::uint64_t function = 0;
  /// Asked with it: the inlined calls that its code came from, the outermost first.
  std::vector<InlinedCall> calls = {};
};

/// The sections that lines are told by.
struct LineSections {
  std::string_view lines;         ///< .debug_line
  std::string_view line_strings;  ///< .debug_line_str
  std::string_view strings;       ///< .debug_str
};

/// Fills in the lines of these addresses, as far as the programs of .debug_line (DWARF 2 to 5) tell
/// them. Inside code of another file that was inlined, the line is that of the innermost call in
/// the file that the function begins in; where calls are not known, the last one of that file
/// before it. The sections come out of any file: every read is checked against them, and each byte
/// of the programs is run once.
void find_lines(const LineSections& sections, std::map<std::uint64_t, SourceLine>& addresses);

}  // namespace ebb::sites
