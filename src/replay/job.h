// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "replay/doctor.h"
#include "replay/forecast.h"
#include "replay/tuner.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {

/// One device's history in a snapshot file.
struct Job {
  std::string name;  ///< the file, and the device where there are several
  std::shared_ptr<const trace::Snapshot> snapshot;
  int device = 0;
  Workload workload;
};

/// Reads a snapshot: all devices that have a history, or the one asked for. `limit` is the byte
/// limit of the circumstances, where it is known.
base::Result<std::vector<Job>> read_jobs(const std::string& path, std::optional<int> device,
                                         std::optional<std::uint64_t> limit,
                                         const trace::ReadOptions& options = {});

/// Rows for all these strings, on all cores; the error names the string it is about.
base::Result<std::vector<Row>> forecast_all(const Job& job, const std::vector<std::string>& confs,
                                            const Circumstances& circumstances);

/// What `ebb replay`, `ebb tune` and `ebb doctor` print with --json, and ebb_call returns: one
/// object; of several devices or files the first one's, with all of them in a list. Every list has
/// one item per job.
base::Json replay_json(const std::vector<Job>& jobs, const std::vector<std::vector<Row>>& rows);
base::Json tune_json(const std::vector<Job>& jobs, const TuneResult& result);
base::Json doctor_json(const std::vector<Job>& jobs, const std::vector<Diagnosis>& diagnoses);

}  // namespace ebb::replay
