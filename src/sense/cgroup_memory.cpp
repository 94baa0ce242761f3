// SPDX-License-Identifier: Apache-2.0
#include "sense/cgroup_memory.h"

namespace ebb::sense {
namespace {

using Part = std::optional<std::uint64_t>;

Part without(Part from, Part part) {
  if (!from || !part) return std::nullopt;
  return *from > *part ? *from - *part : 0;
}

/// What is known of them together.
Part together(Part one, Part other) {
  if (!one) return other;
  return *one + other.value_or(0);
}

void take_v2(const KeyedNumbers& stat, CgroupMemory& memory) {
  memory.anon = stat.find("anon");
  memory.shmem = stat.find("shmem");
  memory.file = without(stat.find("file"), memory.shmem.value_or(0));
  memory.working_set = without(memory.usage, stat.find("inactive_file"));
  memory.dirty = together(stat.find("file_dirty"), stat.find("file_writeback"));
  memory.sockets = stat.find("sock");
  memory.stacks = stat.find("kernel_stack");
  memory.page_tables = stat.find("pagetables");
  const Part unreclaimable = stat.find("slab_unreclaimable");
  memory.slab = together(unreclaimable, stat.find("slab_reclaimable"));
  Part fixed;  // of the kernel's own, what it cannot drop
  if (const Part kernel = stat.find("kernel")) {
    memory.kernel = *kernel + memory.sockets.value_or(0);
    fixed = without(kernel, stat.find("slab_reclaimable").value_or(0));
  } else if (unreclaimable) {  // kernels before 5.18 tell it in parts
    fixed = *unreclaimable + memory.stacks.value_or(0) + memory.page_tables.value_or(0) +
            stat.find("percpu").value_or(0);
    memory.kernel = *fixed + stat.find("slab_reclaimable").value_or(0) + memory.sockets.value_or(0);
  }
  if (memory.anon && memory.shmem && fixed)
    memory.unreclaimable = *memory.anon + *memory.shmem + *fixed + memory.sockets.value_or(0);
}

void take_v1(const KeyedNumbers& stat, CgroupMemory& memory) {
  // Without total_ the figures leave out the groups below.
  memory.anon = stat.find("total_rss");
  memory.shmem = stat.find("total_shmem");
  memory.file = without(stat.find("total_cache"), memory.shmem.value_or(0));
  memory.working_set = without(memory.usage, stat.find("total_inactive_file"));
  memory.dirty = together(stat.find("total_dirty"), stat.find("total_writeback"));
  if (memory.anon && memory.shmem)
    memory.unreclaimable = *memory.anon + *memory.shmem + memory.kernel.value_or(0);
}

}  // namespace

void take_stats(const KeyedNumbers& stat, CgroupMemory& memory) {
  if (stat.find("total_rss")) {
    take_v1(stat, memory);
  } else {
    take_v2(stat, memory);
  }
}

}  // namespace ebb::sense
