// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/job.h"

namespace CLI {
class App;
}

namespace ebb::cli {

/// What replay, tune and doctor are asked with.
struct SnapshotOptions {
  std::string cap;
  std::string version;
  std::string model = "recorded";
  std::optional<int> device;
  bool json = false;
  std::string html;
};
void add_snapshot_options(CLI::App& verb, SnapshotOptions& options);

/// The parts of the command line that all of them share, understood.
base::Result<replay::Circumstances> circumstances_of(const SnapshotOptions& options);

using replay::Job;

/// Reads a snapshot, with a progress bar.
base::Result<trace::Snapshot> read_snapshot_file(const std::string& path);
base::Result<std::vector<Job>> read_jobs(const std::string& path, const SnapshotOptions& options,
                                         const replay::Circumstances& circumstances);

/// What could not be known, on stderr.
void print_notes(const Job& job);

}  // namespace ebb::cli
