// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/model.h"

namespace ebb::record {

/// A run by what its recorder wrote of itself.
struct RunMark {
  double started = 0;  ///< as Run has it
  std::string writer;  ///< this_writer() of the recorder
};

/// What a process still held when its recorder and it had been killed. Keys in the rows are not
/// looked at: the process is known by its pid, and what was recorded of it.
struct LateSites {
  std::int32_t pid = 0;
  double began = 0;  ///< seconds since the run started, of the first sample
  Sampling sampling;
  std::vector<Site> sites;
  std::vector<SiteName> names;
};

/// Whether a run waits for late rows. Code::not_found where there is no such record or run, or
/// where it has ended in order: then nothing is missing. Code::unavailable where its recorder is at
/// work. Does not write.
base::Status wants_late_sites(const std::string& path, const RunMark& mark);

/// Adds them to the run, as its last moment, in one transaction. As wants_late_sites() where they
/// are not wanted; other codes where the file cannot be written to now.
base::Status add_late_sites(const std::string& path, const RunMark& mark, const LateSites& late);

}  // namespace ebb::record
