// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

/// The environment that a process was started with, from /proc/PID/environ: what it changed itself
/// since then does not show. Of a name that is there twice the first counts, as for getenv().
/// Code::not_found when there is no such process, Code::not_permitted when it is another user's.
base::Result<std::map<std::string, std::string>> read_environment(pid_t pid = kSelf,
                                                                  const Roots& roots = {});

}  // namespace ebb::sense
