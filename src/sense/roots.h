// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace ebb::sense {

/// Stands for the calling process wherever a pid is asked for.
inline constexpr pid_t kSelf = 0;

/// Where the kernel's files are. The defaults are this machine; a recorded tree is another.
struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  /// Put before every mount point that mountinfo names. Mount points are absolute, so that a tree
  /// recorded under a directory is found only with that directory before them.
  std::string mounts = "";

  /// A whole tree below `directory`: its proc, its sys and its mount points.
  static Roots under(const std::string& directory);

  /// The folder of a process below `proc`.
  std::string process(pid_t pid) const;
  /// The folder of one of its threads.
  std::string thread(pid_t pid, pid_t thread) const;
};

/// The Error for a process that is not there.
base::Error no_such_process(pid_t pid, const Roots& roots);

}  // namespace ebb::sense
