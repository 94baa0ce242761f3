// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "keep/role.h"

namespace ebb::keep {

/// When a start script preloads jemalloc.
enum class JemallocUse : std::uint8_t {
  by_opt_in,  ///< where NVFLARE_ENABLE_JEMALLOC_PRELOAD is "true" when the job starts
  always,
};

/// As the allocator that was asked for wants it: "" and "glibc" leave it to who starts the job.
/// Code::bad_input for one that a script cannot find.
base::Result<JemallocUse> jemalloc_use_for(const std::string& allocator);

/// A script for any POSIX shell that starts the command in its arguments with the environment that
/// suits `role`, as the `sub_start.sh` of NVFlare's startup kits does. It looks for the library
/// where it runs, in the folders of Debian (of its own architecture), Red Hat and Alpine, says how
/// to install one that is missing and then starts the job all the same. What is set already stays.
std::string start_script(Role role, JemallocUse jemalloc, std::optional<int> arenas);

}  // namespace ebb::keep
