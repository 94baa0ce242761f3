// SPDX-License-Identifier: Apache-2.0
// What of the processes' memory only their mappings tell.
#include "keep/ledger.h"
#include "run/supervisor.h"
#include "sense/mapping_sums.h"

namespace ebb::run {

void Supervisor::read_mappings(double seconds) {
  while (mappings_.may_read(seconds)) {
    Member* due = nullptr;
    for (auto& [pid, member] : members_)
      if (seconds >= member.next_mappings &&
          (due == nullptr || member.next_mappings < due->next_mappings))
        due = &member;
    if (due == nullptr) return;
    due->next_mappings = MappingWatch::next(seconds, seconds - due->about.seconds);
    const std::int64_t start = base::thread_cpu_clock().now_ns();
    const auto sums = sense::read_mapping_sums(due->about.pid, {}, &due->stacks);
    mappings_.took(seconds, base::seconds_between(start, base::thread_cpu_clock().now_ns()));
    const auto now = sense::read_process(due->about.pid);
    // The number may have been given to another process meanwhile; one that ends has nothing left.
    if (!sums || !now || now->start_ticks != due->about.start || now->virtual_size == 0) continue;
    fact::MappedParts parts = keep::parts_of(*sums);
    if (!parts.python) parts.python = due->python_arenas;
    journal_.add(record::Mapped{due->key(), seconds, parts});
  }
}

}  // namespace ebb::run
