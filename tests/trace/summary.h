// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/snapshot.h"

namespace ebb::trace {

/// Counts, sums and checksums of all that a snapshot holds, in the lines that
/// tests/tools/snapshot_summary.py makes of the same file.
std::string summary_of(const Snapshot& snapshot);

}  // namespace ebb::trace
