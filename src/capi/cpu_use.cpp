// SPDX-License-Identifier: Apache-2.0
#include "capi/cpu_use.h"

namespace ebb::capi {

CpuUse::Percent CpuUse::read() {
  Percent percent;
  if (base::fork_lost()) return percent;
  const base::Lock lock(mutex_);
  if (const auto process = process_.read()) percent.process = *process;
  if (const auto machine = machine_.read()) percent.machine = *machine;
  return percent;
}

}  // namespace ebb::capi
