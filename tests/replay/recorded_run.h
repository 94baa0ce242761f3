// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "replay/job.h"

namespace ebb::replay {

/// A run of a real program on a GPU, as it was recorded.
struct RecordedRun {
  std::string workload;  ///< e.g. "gpt2_varlen"
  std::string setting;   ///< e.g. "captight"
  std::string pickle;    ///< file with its history
  std::string conf;
  std::optional<std::uint64_t> cap;
  bool ran_out = false;
  std::uint64_t requests = 0;
  std::vector<SegmentEvent> events;
  std::map<std::string, std::int64_t> stats;

  std::string name() const { return workload + "." + setting; }
  std::uint64_t peak_reserved() const {
    return static_cast<std::uint64_t>(stats.at("reserved_bytes.all.peak"));
  }
};

/// For messages of tests.
inline void PrintTo(const RecordedRun& run, std::ostream* out) {
  *out << run.name();
}

/// All runs in a folder, by name. Fails the current test on a file that is no recorded run.
std::vector<RecordedRun> recorded_runs(const std::string& folder);

/// Its history, ready to be replayed; fails the current test where that is impossible.
Job job_of(const RecordedRun& run);

}  // namespace ebb::replay
