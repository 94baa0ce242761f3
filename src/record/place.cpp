// SPDX-License-Identifier: Apache-2.0
#include "record/place.h"

#include <algorithm>

#include "base/clock.h"
#include "record/liveness.h"

namespace ebb::record {

base::Result<std::string> path_of(const std::string& named) {
  if (!named.empty()) return named;
  return default_path();
}

base::Result<Place> place_of(const std::string& named) {
  const auto path = path_of(named);
  if (path) return Place{*path, ""};
  if (!named.empty()) return path.error();
  return Place{"", "nothing is recorded: " + path.error().message};
}

Run beginning_run(const std::string& name, const std::vector<std::string>& command) {
  Run run;
  run.name = name;
  run.command = command;
  run.host = this_host();
  run.version = EBB_VERSION;
  run.started = base::unix_seconds();
  return run;
}

base::Result<RecordedRun> read_run(const std::string& run, const std::string& named) {
  const auto path = path_of(named);
  if (!path) return path.error();
  auto store = Store::open(*path);
  if (!store && store.error().code == base::Code::not_found) {
    return base::error(base::Code::not_found, "no run '%s': nothing is recorded in %s yet",
                       run.c_str(), path->c_str());
  }
  if (!store) return store.error();
  const auto found = store->find(run);
  if (!found) return found.error();
  return store->read(found->run.id);
}

base::Result<std::vector<RunSummary>> list_runs(const std::string& path, bool is_default) {
  auto store = Store::open(path);
  if (!store && is_default && store.error().code == base::Code::not_found)
    return std::vector<RunSummary>{};
  if (!store) return store.error();
  return store->runs();
}

base::Result<std::vector<std::int64_t>> find_runs(Store& store,
                                                  const std::vector<std::string>& runs) {
  std::vector<std::int64_t> ids;
  for (const std::string& name : runs) {
    const auto run = store.find(name);
    if (!run) return run.error();
    ids.push_back(run->run.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace ebb::record
