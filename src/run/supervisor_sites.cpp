// SPDX-License-Identifier: Apache-2.0
// Who holds the memory of the job's processes.
#include "run/supervisor.h"

namespace ebb::run {

void Supervisor::watch_sites(double seconds) {
  if (!sites_ || !sites_->is_due(seconds)) return;
  SiteWatch::Processes processes;
  for (const auto& [pid, member] : members_)
    processes[pid] = member.key();
  sites_->look(processes, seconds);
}

}  // namespace ebb::run
