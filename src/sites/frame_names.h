// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fact/site.h"
#include "sites/table_view.h"

namespace ebb::sites {

/// The stacks of a process with names: functions from the symbol tables of its modules, lines from
/// their .debug_line, also from separate debug files (/usr/lib/debug, by build id) that are not
/// packed. Each file is read once for all stacks. `root` stands before every path, for
/// a process that sees another tree. A file that changed after `until` (unix seconds) is another
/// one than the process ran: its calls have no names. Calls of the agent and of what samples are
/// left out.
std::vector<fact::SiteStack> named(const std::vector<RawStack>& stacks,
                                   const std::vector<Module>& modules, const std::string& root = "",
                                   std::optional<double> until = std::nullopt);

}  // namespace ebb::sites
