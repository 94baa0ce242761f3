// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/option.h"
#include "base/result.h"
#include "replay/doctor/doctor.h"
#include "replay/forecast.h"
#include "replay/tune/tuner.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {

/// One device's history in a snapshot file.
struct Job {
  std::string name;  ///< the file, and the device where there are several
  std::shared_ptr<const trace::Snapshot> snapshot;
  int device = 0;
  Workload workload;
};

/// What `ebb replay`, `ebb tune` and `ebb doctor` and their calls are all asked with.
struct JobOptions {
  std::optional<std::uint64_t> cap;  ///< bytes that the process may take on the device
  std::string torch_version;         ///< "": as recorded
  std::string driver_model = "recorded";
  std::optional<int> device;
  std::optional<std::uint64_t> card;  ///< bytes that the device has in all, for the doctor
};
base::Options options_of(JobOptions& options);
/// Code::bad_input for a version or a model that there is not.
base::Result<Circumstances> circumstances_of(const JobOptions& options);

/// Whether a snapshot without any history will do: what is held can be looked at, not replayed.
enum class History : std::uint8_t { required, optional };

/// Reads a snapshot: all devices that have a history, or the one asked for. `limit` is the byte
/// limit of the circumstances, where it is known.
base::Result<std::vector<Job>> read_jobs(const std::string& path, std::optional<int> device,
                                         std::optional<std::uint64_t> limit,
                                         const trace::ReadOptions& options = {},
                                         History history = History::required);

/// The same out of any source of (unpacked) bytes; `name` stands for its path.
base::Result<std::vector<Job>> read_jobs(pack::ByteSource& source, const std::string& name,
                                         std::optional<int> device,
                                         std::optional<std::uint64_t> limit,
                                         const trace::ReadOptions& options = {},
                                         History history = History::required);

/// Rows for all these strings, on all cores; the error names the string it is about.
base::Result<std::vector<Row>> forecast_all(const Job& job, const std::vector<std::string>& confs,
                                            const Circumstances& circumstances);

/// What `ebb replay`, `ebb tune` and `ebb doctor` print with --json, and ebb_call returns: one
/// object; of several devices or files the first one's, with all of them in a list. Every list has
/// one item per job.
base::Json replay_json(const std::vector<Job>& jobs, const std::vector<std::vector<Row>>& rows);
base::Json tune_json(const std::vector<Job>& jobs, const TuneResult& result);
base::Json doctor_json(const std::vector<Job>& jobs,
                       const std::vector<SnapshotDiagnosis>& diagnoses);

}  // namespace ebb::replay
