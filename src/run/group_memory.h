// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fact/group_memory.h"
#include "sense/cgroup_memory.h"
#include "sense/kernel_log.h"

namespace ebb::run {

fact::GroupMemory group_memory_of(const sense::CgroupMemory& memory);

/// Of the group that was full, at the moment of the kill. Nothing of it where the report does not
/// have it.
fact::GroupMemory group_memory_of(const sense::OomReport& report);

}  // namespace ebb::run
