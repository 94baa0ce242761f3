// SPDX-License-Identifier: Apache-2.0
#include "record/store.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "record/run_rows.h"
#include "record/schema.h"
#include "record/simulation_rows.h"
#include "record/thinning.h"

namespace ebb::record {
namespace {

constexpr int kRemoveBusyMs = 5000;

base::Error no_such_run(const std::string& run, const std::string& path) {
  return base::error(base::Code::not_found, "no run '%s' in %s (ebb runs lists them)", run.c_str(),
                     path.c_str());
}

}  // namespace

const char* name_of(State state) {
  switch (state) {
    case State::running:
      return "running";
    case State::ended:
      return "ended";
    case State::lost:
      return "lost";
  }
  return "";
}

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::silent:
      return "silent";
    case EventKind::named:
      return "name";
    case EventKind::marker:
      return "marker";
    case EventKind::oom_kill:
      return "oom_kill";
    case EventKind::no_room:
      return "no_room";
  }
  return "";
}

const char* name_of(CutBy cause) {
  switch (cause) {
    case CutBy::unknown:
      return "";
    case CutBy::kill:
      return "kill";
    case CutBy::restart:
      return "restart";
  }
  return "";
}

base::Result<std::string> default_path() {
  const auto absolute = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";
  };
  const std::string state = absolute("XDG_STATE_HOME");
  if (!state.empty()) return state + "/ebb/runs.db";
  const std::string home = absolute("HOME");
  if (!home.empty()) return home + "/.local/state/ebb/runs.db";
  return base::error(base::Code::unavailable,
                     "no place for the record of runs: neither XDG_STATE_HOME nor HOME is set; "
                     "expected one of them, or --db FILE");
}

base::Result<Store> Store::open(const std::string& path) {
  auto database = open_for_reading(path);
  if (!database) return database.error();
  return Store(*std::move(database));
}

base::Result<std::vector<RunSummary>> Store::runs() {
  std::vector<RunSummary> found = read_summaries(database_);
  if (database_.failed()) return database_.take_failure();
  return found;
}

base::Result<std::vector<RunSummary>> Store::running() {
  std::vector<RunSummary> found = read_summaries(database_, true);
  if (database_.failed()) return database_.take_failure();
  std::erase_if(found, [](const RunSummary& one) { return one.state != State::running; });
  return found;
}

base::Result<RunSummary> Store::find(const std::string& run) {
  auto all = runs();
  if (!all) return all.error();
  const auto number = base::parse_unsigned(run);
  const auto matches = [&](auto&& test) { return std::find_if(all->begin(), all->end(), test); };
  auto found = all->end();
  if (number) {
    found = matches(
        [&](const RunSummary& one) { return static_cast<std::uint64_t>(one.run.id) == *number; });
  }
  if (found == all->end())
    found = matches([&](const RunSummary& one) { return one.run.name == run; });
  if (found == all->end() && run == "last") found = all->begin();
  if (found == all->end()) return no_such_run(run, database_.path());
  return std::move(*found);
}

base::Result<std::vector<std::int64_t>> Store::ended_before(double unix_seconds) {
  const auto all = runs();
  if (!all) return all.error();
  std::vector<std::int64_t> ids;
  for (const RunSummary& one : *all)
    if (one.state != State::running &&
        one.run.ended.value_or(one.run.started + one.seconds) < unix_seconds)
      ids.push_back(one.run.id);
  return ids;
}

base::Result<RecordedRun> Store::read(std::int64_t id) {
  return read_from(id, std::nullopt);
}

base::Result<RecordedRun> Store::recent(std::int64_t id, double seconds) {
  return read_from(id, seconds);
}

/// One transaction for reading: all tables as of the same moment.
template <class T>
base::Result<T> Store::at_one_moment(std::int64_t id,
                                     const std::function<std::optional<T>()>& read) {
  database_.script("BEGIN");
  std::optional<T> found = read();
  database_.script("COMMIT");
  if (database_.failed()) {
    base::Error failure = database_.take_failure();
    if (!database_.script("ROLLBACK")) static_cast<void>(database_.take_failure());
    return failure;
  }
  if (!found) return no_such_run(std::to_string(id), database_.path());
  return *std::move(found);
}

base::Result<RecordedRun> Store::read_from(std::int64_t id, std::optional<double> seconds) {
  return at_one_moment<RecordedRun>(id, [&] { return read_whole_run(database_, id, seconds); });
}

base::Result<RecordedSimulation> Store::simulation(std::int64_t id) {
  return at_one_moment<RecordedSimulation>(id, [&]() -> std::optional<RecordedSimulation> {
    auto summary = read_summary(database_, id);
    auto simulation = read_simulation(database_, id);
    if (!summary || !simulation) return std::nullopt;
    return RecordedSimulation{*std::move(summary), *std::move(simulation),
                              read_simulated(database_, id)};
  });
}

base::Status Store::remove(const std::vector<std::int64_t>& ids) {
  const auto all = runs();
  if (!all) return all.error();
  for (const std::int64_t id : ids) {
    const auto found = std::find_if(all->begin(), all->end(),
                                    [&](const RunSummary& one) { return one.run.id == id; });
    if (found == all->end()) return no_such_run(std::to_string(id), database_.path());
    if (found->state == State::running) {
      return base::error(base::Code::bad_input,
                         "run %lld is still running, expected one that ended",
                         static_cast<long long>(id));
    }
  }
  auto database = open_for_writing(database_.path(), kRemoveBusyMs);
  if (!database) return database.error();
  for (const std::int64_t id : ids) {
    bool is_gone = false;
    while (!is_gone) {
      const auto done = in_transaction(*database, [&] {
        is_gone = thin_run(*database, id, kDetail[kLeastDetail]);
        if (is_gone) remove_row(*database, id);
        return true;
      });
      if (!done) return done;
    }
  }
  // The second brings the smaller size to disk, unless somebody still reads the old pages.
  if (!database->script("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint"))
    return database->take_failure();
  return {};
}

}  // namespace ebb::record
