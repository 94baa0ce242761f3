// SPDX-License-Identifier: Apache-2.0
#include "capi/recorded_jobs.h"

#include "replay/doctor/stats_diagnosis.h"
#include "replay/job.h"

namespace ebb::capi {

using base::Code;
using base::Json;

base::Result<std::string> text_argument(const Json& arguments, const char* key,
                                        const char* otherwise) {
  const Json* value = arguments.find(key);
  if (value == nullptr || value->is_null()) return std::string(otherwise);
  if (value->as_string() == nullptr) return base::error(Code::bad_input, "%s: expected text", key);
  return *value->as_string();
}

namespace {

/// One string or a list of them; nothing where the member is absent.
base::Result<std::vector<std::string>> texts_argument(const Json& arguments, const char* key) {
  std::vector<std::string> texts;
  const Json* value = arguments.find(key);
  if (value == nullptr || value->is_null()) return texts;
  if (const base::Status set = base::set({key, &texts, ""}, *value); !set) return set.error();
  return texts;
}

/// What replay, tune and doctor are called with.
struct RecordedJobs {
  replay::Circumstances circumstances;
  std::vector<replay::Job> jobs;
};

base::Result<RecordedJobs> jobs_argument(const Json& arguments,
                                         replay::History history = replay::History::required) {
  RecordedJobs recorded;
  replay::JobOptions options;
  base::Options known = replay::options_of(options);
  known.push_back({"card", base::Bytes{&options.card}, ""});
  for (const base::Option& option : known) {
    const Json* value = arguments.find(option.key);
    if (value == nullptr || value->is_null()) continue;
    if (const base::Status set = base::set(option, *value); !set) return set.error();
  }
  const auto circumstances = replay::circumstances_of(options);
  if (!circumstances) return circumstances.error();
  recorded.circumstances = *circumstances;
  const auto paths = texts_argument(arguments, "snapshot");
  if (!paths) return paths.error();
  if (paths->empty()) return base::error(Code::bad_input, "snapshot: expected the name of a file");
  for (const std::string& path : *paths) {
    auto jobs = replay::read_jobs(path, options.device, recorded.circumstances.limit, {}, history);
    if (!jobs) return jobs.error();
    for (replay::Job& job : *jobs)
      recorded.jobs.push_back(std::move(job));
  }
  return recorded;
}

}  // namespace

base::Result<Json> call_replay(const Json& arguments) {
  const auto recorded = jobs_argument(arguments);
  if (!recorded) return recorded.error();
  auto confs = texts_argument(arguments, "conf");
  if (!confs) return confs.error();
  std::vector<std::vector<replay::Row>> rows;
  for (const replay::Job& job : recorded->jobs) {
    const std::vector<std::string> wanted =
        confs->empty() ? std::vector<std::string>{job.workload.recording.conf} : *confs;
    auto found = replay::forecast_all(job, wanted, recorded->circumstances);
    if (!found) return found.error();
    rows.push_back(std::move(*found));
  }
  return replay::replay_json(recorded->jobs, rows);
}

base::Result<Json> call_tune(const Json& arguments) {
  const auto recorded = jobs_argument(arguments);
  if (!recorded) return recorded.error();
  const auto name = text_argument(arguments, "objective", "memory");
  if (!name) return name.error();
  const auto objective = replay::parse_objective(*name);
  if (!objective) return objective.error();
  auto without = texts_argument(arguments, "without");
  if (!without) return without.error();
  replay::TuneOptions options;
  options.objective = *objective;
  options.without = std::move(*without);
  if (const Json* quick = arguments.find("quick"); quick != nullptr && !quick->is_null()) {
    if (const base::Status set = base::set({"quick", &options.quick, ""}, *quick); !set)
      return set.error();
  }
  options.circumstances = recorded->circumstances;
  std::vector<const replay::Workload*> workloads;
  for (const replay::Job& job : recorded->jobs)
    workloads.push_back(&job.workload);
  const auto result = replay::tune(workloads, options);
  if (!result) return result.error();
  return replay::tune_json(recorded->jobs, *result);
}

base::Result<Json> call_doctor(const Json& arguments) {
  if (const Json* stats = arguments.find("stats"); stats != nullptr && !stats->is_null()) {
    if (arguments.as_object()->size() != 1)
      return base::error(Code::bad_input, "stats: expected it alone, without a snapshot");
    const auto reading = replay::read_stats(*stats, "stats");
    if (!reading) return reading.error();
    return fact::to_json(replay::diagnose(*reading));
  }
  const auto recorded = jobs_argument(arguments, replay::History::optional);
  if (!recorded) return recorded.error();
  std::vector<replay::SnapshotDiagnosis> diagnoses;
  for (const replay::Job& job : recorded->jobs) {
    auto diagnosis =
        replay::diagnose(*job.snapshot, job.device, job.workload, recorded->circumstances);
    if (!diagnosis) return diagnosis.error();
    diagnoses.push_back(std::move(*diagnosis));
  }
  return replay::doctor_json(recorded->jobs, diagnoses);
}

}  // namespace ebb::capi
