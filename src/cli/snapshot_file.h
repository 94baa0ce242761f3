// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/job.h"

namespace ebb::cli {

/// What replay, tune and doctor are asked with.
struct SnapshotOptions : replay::JobOptions {
  bool json = false;
  std::string html;
};
/// `first`, and those that all of them share.
base::Options with_snapshot_options(base::Options first, SnapshotOptions& options);

using replay::Job;

/// Reads a snapshot, with a progress bar.
base::Result<trace::Snapshot> read_snapshot_file(const std::string& path);
base::Result<std::vector<Job>> read_jobs(const std::string& path, const SnapshotOptions& options,
                                         const replay::Circumstances& circumstances,
                                         replay::History history = replay::History::required);

/// What could not be known, on stderr.
void print_notes(const Job& job);

}  // namespace ebb::cli
