// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "fact/memory_split.h"

namespace ebb::run {

/// What the memory of a control group is now, read from outside: of processes only what the kernel
/// tells of them. Walks the page tables of each of them, some ten milliseconds per GiB. `path` is
/// the group's folder, or its name below the mount of the groups that account memory.
/// Code::bad_input, with what was expected, where it is no such group.
base::Result<fact::MemorySplit> look_at_group(const std::string& path);

}  // namespace ebb::run
