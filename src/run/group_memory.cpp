// SPDX-License-Identifier: Apache-2.0
#include "run/group_memory.h"

namespace ebb::run {

fact::GroupMemory group_memory_of(const sense::CgroupMemory& memory) {
  fact::GroupMemory group;
  group.usage = memory.usage;
  group.anon = memory.anon;
  group.shmem = memory.shmem;
  group.cache = memory.file;
  group.dirty = memory.dirty;
  group.kernel = memory.kernel;
  group.slab = memory.slab;
  group.sockets = memory.sockets;
  group.stacks = memory.stacks;
  group.page_tables = memory.page_tables;
  return group;
}

fact::GroupMemory group_memory_of(const sense::OomReport& report) {
  const auto stat = sense::KeyedNumbers::parse(report.stats, "the kernel's log");
  if (!stat || report.of_machine) return {};
  sense::CgroupMemory memory;
  memory.usage = report.usage;
  memory.kernel = report.kernel;
  sense::take_stats(*stat, memory);
  return group_memory_of(memory);
}

}  // namespace ebb::run
