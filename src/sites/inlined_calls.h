// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace ebb::sites {

/// Where code was inlined that lies at an address: a call in a file, by its number in the line
/// table.
struct InlinedCall {
  std::uint64_t file = 0;
  std::uint32_t line = 0;
};

/// The sections that calls of inlined functions are told by.
struct InfoSections {
  std::string_view info;           ///< .debug_info
  std::string_view abbreviations;  ///< .debug_abbrev
  std::string_view ranges;         ///< .debug_ranges, before DWARF 5
  std::string_view range_lists;    ///< .debug_rnglists
  std::string_view addresses;      ///< .debug_addr
};

/// The inlined calls that the code at each address came from, the outermost first.
using InlinedCalls = std::map<std::uint64_t, std::vector<InlinedCall>>;

/// Fills in those of the given addresses, as far as DWARF 2 to 5 tell them. The sections come out
/// of any file: every read is checked against them.
void find_inlined_calls(const InfoSections& sections, InlinedCalls& addresses);

}  // namespace ebb::sites
