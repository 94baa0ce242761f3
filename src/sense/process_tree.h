// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// The processes that `root` started, and those that they started, ascending and without `root`.
/// One whose parent has ended belongs to nobody here. Reads one small file per process of the
/// machine: some milliseconds where there are hundreds. Fails only where proc cannot be listed.
base::Result<std::vector<pid_t>> descendants_of(pid_t root, const Roots& roots = {});

}  // namespace ebb::sense
