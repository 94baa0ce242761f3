// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "support/packed_file.h"

namespace ebb::replay {
namespace {

trace::Action action_named(const std::string& name) {
  for (std::size_t i = 0; i < trace::kActions; ++i) {
    if (name == name_of(static_cast<trace::Action>(i))) return static_cast<trace::Action>(i);
  }
  ADD_FAILURE() << "no action " << name;
  return trace::Action::alloc;
}

RecordedRun run_of(const std::filesystem::path& path) {
  RecordedRun run;
  std::string name = path.filename().string();
  name.resize(name.size() - std::string(".json.gz").size());
  run.workload = name.substr(0, name.find('.'));
  run.setting = name.substr(name.find('.') + 1);
  run.pickle = (path.parent_path() / (name + ".pickle.gz")).string();
  const auto json = base::parse_json(support::text_of(path.string()));
  EXPECT_TRUE(json) << path;
  if (!json) return run;
  run.conf = *json->find("conf")->as_string();
  if (const auto cap = *json->find("cap_bytes")->as_unsigned(); cap != 0) run.cap = cap;
  run.ran_out = !json->find("oom")->is_null();
  run.requests = *json->find("requests")->as_unsigned();
  for (const base::Json& event : *json->find("segment_events")->as_array()) {
    const base::Json::Array& fields = *event.as_array();
    run.events.push_back(
        {*fields[0].as_unsigned(), action_named(*fields[1].as_string()), *fields[2].as_unsigned()});
  }
  for (const auto& [key, value] : *json->find("memory_stats")->as_object()) {
    run.stats[key] = *value.as_int();
  }
  return run;
}

}  // namespace

std::vector<RecordedRun> recorded_runs(const std::string& folder) {
  std::vector<RecordedRun> runs;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().ends_with(".json.gz")) runs.push_back(run_of(entry.path()));
  }
  std::sort(runs.begin(), runs.end(),
            [](const RecordedRun& a, const RecordedRun& b) { return a.name() < b.name(); });
  return runs;
}

Job job_of(const RecordedRun& run) {
  auto jobs = read_jobs(run.pickle, std::nullopt, run.cap);
  EXPECT_TRUE(jobs) << run.pickle;
  if (!jobs) return {};
  return std::move(jobs->front());
}

}  // namespace ebb::replay
