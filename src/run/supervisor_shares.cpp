// SPDX-License-Identifier: Apache-2.0
// What the processes of the job share.
#include <algorithm>

#include "run/supervisor.h"

namespace ebb::run {

void Supervisor::measure_shares(double seconds) {
  if (members_.size() < 2) return shares_.rest();
  const std::int64_t start = base::thread_cpu_clock().now_ns();
  std::optional<std::uint64_t> shared;
  for (auto& [pid, member] : members_) {
    const auto exact = sense::read_process_exact(pid);
    if (!exact || exact->start_ticks != member.about.start) continue;
    member.for_next_sample.pss = exact->pss;
    member.for_next_sample.uss = exact->uss;
    member.for_next_sample.shared = exact->shared;
    if (exact->shared) shared = shared.value_or(0) + *exact->shared;
  }
  const double cost = base::seconds_between(start, base::thread_cpu_clock().now_ns());
  // Workers may live for some seconds only: twice the share of the time that samples may take.
  shares_.measured(seconds, shared, cost, std::max(interval(), pause_after(cost) / 2));
}

}  // namespace ebb::run
