// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/fork.h"
#include "sense/cpu.h"

namespace ebb::capi {

/// CPU use between readings, whoever in this process makes them. Thread-safe; in a forked child it
/// counts the child.
class CpuUse {
 public:
  struct Percent {
    std::optional<double> process;  ///< 100 is one core
    std::optional<double> machine;  ///< 100 is all cores
  };

  /// Since the previous reading; the first time since the process started and the machine booted.
  /// Nothing in a child that was lost (base/fork.h).
  Percent read() EBB_EXCLUDES(mutex_);

 private:
  sense::ProcessCpuMeter process_ EBB_GUARDED_BY(mutex_);
  sense::MachineCpuMeter machine_ EBB_GUARDED_BY(mutex_);
  base::ForkMutex mutex_{6};
};

}  // namespace ebb::capi
