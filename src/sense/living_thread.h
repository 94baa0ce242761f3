// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "sense/roots.h"

namespace ebb::sense {

// A process lives as long as one of its threads does. Where its first one has ended before the
// others, the kernel shows the process as a zombie, and its files are empty or not there: of status
// the memory, statm, smaps, maps, cmdline, environ, exe. Those of a living thread have it all.

/// A thread that lives on in such a process. Nothing where the first thread lives, where none does
/// any more (it has ended, or is about to) or where that cannot be read.
std::optional<pid_t> living_thread(pid_t pid, const Roots& roots = {});

/// The number below `proc` whose files tell what the process is and holds: its own, or that of a
/// thread that lives on. It names no process to signal.
pid_t number_to_read(pid_t pid, const Roots& roots = {});

/// The folder of the same files.
std::string folder_to_read(pid_t pid, const Roots& roots = {});

}  // namespace ebb::sense
