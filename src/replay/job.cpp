// SPDX-License-Identifier: Apache-2.0
#include "replay/job.h"

#include "base/text.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

// PyTorch counts them in a signed byte.
constexpr std::size_t kMostDevices = 128;

base::Json trace_json(const Job& job) {
  base::Json trace = to_json(job.workload);
  trace.set("file", job.name);
  trace.set("device", job.device);
  return trace;
}

/// The first item, which has the others beside it where there are any.
base::Json first_of(base::Json items) {
  base::Json object = items.as_array()->front();
  if (items.as_array()->size() > 1) object.set("jobs", std::move(items));
  return object;
}

/// Those that have a history; where none has, those that hold memory.
std::vector<int> devices_in(const trace::Snapshot& snapshot) {
  std::vector<int> devices;
  for (std::size_t i = 0; i < snapshot.traces.size(); ++i) {
    if (!snapshot.traces[i].empty()) devices.push_back(static_cast<int>(i));
  }
  if (!devices.empty()) return devices;
  for (const trace::Segment& segment : snapshot.segments) {  // by device
    if (devices.empty() || devices.back() != segment.device) devices.push_back(segment.device);
  }
  if (devices.empty()) devices.push_back(0);
  return devices;
}

/// `name` stands before what is wrong with one of them.
base::Result<std::vector<Job>> jobs_of(base::Result<trace::Snapshot> read, const std::string& name,
                                       std::optional<int> device,
                                       std::optional<std::uint64_t> limit, History history) {
  if (!read) return read.error();
  const auto snapshot = std::make_shared<const trace::Snapshot>(std::move(*read));
  const std::vector<int> devices = device ? std::vector{*device} : devices_in(*snapshot);
  if (devices.size() > kMostDevices) {
    return base::error(base::Code::bad_input, "%s: has %zu devices, expected at most %zu",
                       name.c_str(), devices.size(), kMostDevices);
  }
  std::vector<Job> jobs;
  for (const int index : devices) {
    auto workload = workload_of(*snapshot, {index, limit, history == History::optional});
    if (!workload) {
      base::Error error = workload.error();
      error.message = name + ": " + error.message;
      return error;
    }
    std::string job = name;
    if (devices.size() > 1) job += base::format_text(" device %d", index);
    jobs.push_back({std::move(job), snapshot, index, std::move(*workload)});
  }
  return jobs;
}

}  // namespace

base::Result<std::vector<Job>> read_jobs(const std::string& path, std::optional<int> device,
                                         std::optional<std::uint64_t> limit,
                                         const trace::ReadOptions& options, History history) {
  return jobs_of(trace::read_snapshot(path, options), path, device, limit, history);
}

base::Result<std::vector<Job>> read_jobs(pack::ByteSource& source, const std::string& name,
                                         std::optional<int> device,
                                         std::optional<std::uint64_t> limit,
                                         const trace::ReadOptions& options, History history) {
  return jobs_of(trace::read_snapshot(source, name, options), name, device, limit, history);
}

base::Result<std::vector<Row>> forecast_all(const Job& job, const std::vector<std::string>& confs,
                                            const Circumstances& circumstances) {
  std::vector<std::optional<base::Result<Row>>> found(confs.size());
  for_all(confs.size(),
          [&](std::size_t i) { found[i] = forecast(job.workload, confs[i], circumstances, true); });
  std::vector<Row> rows;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]->has_value()) {
      base::Error error = found[i]->error();
      error.message = "settings '" + confs[i] + "': " + error.message;
      return error;
    }
    rows.push_back(std::move(**found[i]));
  }
  return rows;
}

base::Json replay_json(const std::vector<Job>& jobs, const std::vector<std::vector<Row>>& rows) {
  base::Json all = base::Json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    base::Json list = base::Json::array();
    for (const Row& row : rows[i]) {
      list.push(to_json(row));
    }
    all.push(base::Json::object({{"trace", trace_json(jobs[i])}, {"rows", std::move(list)}}));
  }
  return first_of(std::move(all));
}

base::Json tune_json(const std::vector<Job>& jobs, const TuneResult& result) {
  base::Json all = base::Json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    base::Json one = to_json(result, result.jobs[i]);
    one.set("trace", trace_json(jobs[i]));
    all.push(std::move(one));
  }
  return first_of(std::move(all));
}

base::Json doctor_json(const std::vector<Job>& jobs,
                       const std::vector<SnapshotDiagnosis>& diagnoses) {
  base::Json all = base::Json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    base::Json one = to_json(diagnoses[i]);
    one.set("trace", trace_json(jobs[i]));
    all.push(std::move(one));
  }
  return first_of(std::move(all));
}

}  // namespace ebb::replay
