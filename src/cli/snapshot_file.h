// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/forecast.h"
#include "trace/snapshot.h"

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

/// One device's history in a snapshot file.
struct Job {
  std::string name;  ///< the file, and the device where there are several
  std::shared_ptr<const trace::Snapshot> snapshot;
  int device = 0;
  replay::Workload workload;
};

/// Reads a snapshot, with a progress bar.
base::Result<trace::Snapshot> read_snapshot_file(const std::string& path);

/// The same as jobs. All devices that have a history, or the one asked for.
base::Result<std::vector<Job>> read_jobs(const std::string& path, const SnapshotOptions& options,
                                         const replay::Circumstances& circumstances);

/// A settings string as a table shows it.
std::string conf_text(const std::string& conf);

/// "exact", or "+1.2 … +3.4 GiB": the row's peak as far as it is known.
std::string peak_text(const replay::Row& row);

/// Rows as a table, best read from the left: setting, peak, ratio, saved, driver calls, outcome.
std::string table_of(const std::vector<replay::Row>& rows, const replay::Row& baseline);

/// What could not be known, on stderr.
void print_notes(const Job& job);

}  // namespace ebb::cli
