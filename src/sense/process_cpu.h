// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// The time on processors that a process has used, user and system, in seconds; also of one that
/// has ended and waits for its parent. Fails as other readings of a process do.
base::Result<double> read_cpu_seconds(pid_t pid, const Roots& roots = {});

}  // namespace ebb::sense
