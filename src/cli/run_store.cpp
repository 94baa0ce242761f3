// SPDX-License-Identifier: Apache-2.0
#include "cli/run_store.h"

#include <chrono>

#include "record/liveness.h"

namespace ebb::cli {

record::Run beginning_run(const std::string& name, const std::vector<std::string>& command) {
  record::Run run;
  run.name = name;
  run.command = command;
  run.host = record::this_host();
  run.version = EBB_VERSION;
  run.started =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return run;
}

base::Result<std::string> record_path(const std::string& db) {
  if (!db.empty()) return db;
  return record::default_path();
}

base::Result<record::RecordedRun> read_run(const std::string& run, const std::string& db) {
  const auto path = record_path(db);
  if (!path) return path.error();
  auto store = record::Store::open(*path);
  if (!store && store.error().code == base::Code::not_found) {
    return base::error(base::Code::not_found, "no run '%s': nothing is recorded in %s yet",
                       run.c_str(), path->c_str());
  }
  if (!store) return store.error();
  const auto found = store->find(run);
  if (!found) return found.error();
  return store->read(found->run.id);
}

}  // namespace ebb::cli
