// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/workload.h"

namespace ebb::replay {

/// A real job that ran four passes in one process, each with sizes of its own, as PyTorch recorded
/// it on a GPU: the whole trace under default settings, and how much it held under others.
struct LongJob {
  struct Pass {
    std::uint32_t operations = 0;  ///< of the whole until its end
    std::uint32_t events = 0;      ///< likewise
    double seconds = 0;            ///< likewise
  };
  struct Peak {
    std::uint64_t reserved = 0;
    std::uint64_t allocated = 0;
  };
  struct Setting {
    std::string conf;
    std::vector<Peak> peaks;  ///< after each pass
  };
  /// A range that PyTorch itself names in a recording, e.g. "Optimizer.step#AdamW.step".
  struct Mark {
    std::uint32_t event = 0;  ///< before which it was set
    bool start = true;
    std::string name;
  };

  std::string name;
  Workload pass1;  ///< what was recorded when the job is tuned
  Workload whole;  ///< what it did then
  std::vector<Pass> passes;
  std::vector<Mark> marks;
  std::map<std::string, Setting> measured;  ///< by name: default, expandable, expandable12, …

  /// The first passes, 1 … 4, as if recording had stopped there.
  Workload first(std::size_t count) const;
};

/// Those in tests/data, by name.
std::vector<std::string> long_jobs();

/// Reads one of them. Fails the current test on a file that is not as tests/tools/long_jobs.py
/// writes them.
LongJob read_long_job(const std::string& name);

}  // namespace ebb::replay
