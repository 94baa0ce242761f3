// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace ebb::capi {

/// A child of this process, to be reaped by whoever asked for it, and what it prints.
struct SpawnedSimulator {
  pid_t pid = -1;
  base::FileDescriptor output;  ///< does not block
  base::FileDescriptor error;   ///< likewise
};

/// Starts `program` with these words, its own name first: nothing on stdin, pipes for the rest, no
/// blocked signals, and what libtorch has to find in the environment.
base::Result<SpawnedSimulator> spawn_simulator(const std::string& program,
                                               std::vector<std::string> words);

}  // namespace ebb::capi
