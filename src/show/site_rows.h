// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fact/site.h"

namespace ebb::show {

/// A place in the code that holds memory, as text and files show it: of a process or of a device.
struct SiteRow {
  std::string holder;              ///< whose memory it is, e.g. a pid
  fact::SiteStack frames;          ///< innermost first; empty where the stack could not be read
  bool has_other_callers = false;  ///< there are stacks that differ beyond these frames
  std::uint64_t bytes = 0;
  double share = 0;             ///< of all that its holder held, 0 to 1
  std::optional<double> since;  ///< seconds; not told where it is not known
  /// Bytes by which it grows in one of what SiteRows::per and per_long name, where it does.
  std::optional<double> growth;
  std::optional<double> growth_long;
  double growth_share = 0;  ///< of the growth of its holder, 0 to 1
};

struct SiteRows {
  std::vector<SiteRow> rows;
  const char* per = "min";        ///< by what growth is told in text
  const char* per_long = "hour";  ///< and in files
};

/// "grew by" and "held by": the few places that grew and hold most, whoever called them, a line
/// each; values begin at `column`. Whose memory it is stands in front where there are several.
std::string rows_text(const SiteRows& sites, std::size_t column);

}  // namespace ebb::show
