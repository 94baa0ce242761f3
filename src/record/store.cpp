// SPDX-License-Identifier: Apache-2.0
#include "record/store.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/text.h"
#include "record/beside_rows.h"
#include "record/deaths.h"
#include "record/liveness.h"
#include "record/originals.h"
#include "record/peaks.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/site_rows.h"
#include "record/table.h"
#include "record/thinning.h"

namespace ebb::record {
namespace {

// From another container only the time of its last write tells whether a run goes on.
constexpr double kSilentSeconds = 30;
constexpr int kRemoveBusyMs = 5000;

const char* all_runs(const Database& database) {
  static const Query query = Query::of([](int version) {
    return std::string(
               "SELECT id, name, command, role, allocator, host, version, started, ended, "
               "exit_code, signal, ending, interval, limit_bytes, writer, seen, last, peak_rss, "
               "peak_process_rss, processes, samples, rounds, lost, detail, ") +
           (version < 2 ? "NULL" : "peak_group") + " FROM runs ORDER BY id DESC";
  });
  return query.text(database.schema());
}

double unix_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<int> optional_int(const Row& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return static_cast<int>(row.integer(column));
}

State state_of(const Run& run, const std::string& writer, double seen) {
  if (run.ended) return State::ended;
  if (const auto there = is_there(writer)) return *there ? State::running : State::lost;
  const double silence = std::abs(unix_now() - seen);
  return silence < kSilentSeconds + 3 * run.interval ? State::running : State::lost;
}

/// A record may lie on a disk that several machines share, or have been copied: another boot means
/// a restart on the machine of that name only.
CutBy cause_of(const Run& run, const std::string& writer) {
  const auto restarted = was_restarted_since(writer);
  if (!restarted) return CutBy::unknown;
  if (!*restarted) return CutBy::kill;
  return !run.host.empty() && run.host == this_host() ? CutBy::restart : CutBy::unknown;
}

RunSummary summary_of(const Row& row) {
  RunSummary summary;
  Run& run = summary.run;
  run.id = row.integer(0);
  run.name = row.text(1);
  run.command = command_of(row.text(2));
  run.role = row.text(3);
  run.allocator = row.text(4);
  run.host = row.text(5);
  run.version = row.text(6);
  run.started = seconds_of(row.integer(7));
  if (!row.is_null(8)) run.ended = seconds_of(row.integer(8));
  run.exit_code = optional_int(row, 9);
  run.signal = optional_int(row, 10);
  run.ending = fact::run_end_from(row.text(11));
  run.interval = seconds_of(row.integer(12));
  run.limit = row.count(13);
  summary.state = state_of(run, row.text(14), seconds_of(row.integer(15)));
  if (summary.state == State::lost) summary.cut_by = cause_of(run, row.text(14));
  summary.seconds = seconds_of(row.integer(16));
  summary.peak_rss = std::max(row.count(17), row.count(18));
  summary.peak_process_rss = row.count(18);
  summary.processes = row.count(19);
  summary.samples = row.count(20);
  summary.rounds = row.count(21);
  summary.lost = row.count(22);
  summary.detail = row.integer(23);
  run.peak_group = row.optional_count(24);
  return summary;
}

void restore_run(Run& run, const std::map<std::int64_t, base::Json>& originals, std::int64_t key) {
  const auto original = originals.find(key);
  if (original == originals.end()) return;
  restore(run.name, original->second, "name");
  restore(run.command, original->second, "command");
}

void restore_death(Run& run, const std::map<std::int64_t, fact::Death>& deaths) {
  if (const auto death = deaths.find(run.id); death != deaths.end()) run.death = death->second;
}

base::Error no_such_run(const std::string& run, const std::string& path) {
  return base::error(base::Code::not_found, "no run '%s' in %s (ebb runs lists them)", run.c_str(),
                     path.c_str());
}

std::map<std::int64_t, ProcessHistory> read_processes(
    Database& database, std::int64_t run, const std::map<std::int64_t, base::Json>& originals) {
  std::map<std::int64_t, ProcessHistory> found;
  database.each(
      "SELECT process, pid, start, parent, command, allocator, agent, began, ended "
      "FROM processes WHERE run = ? ORDER BY process",
      [&](const Row& row) {
        Process process;
        process.pid = static_cast<std::int32_t>(row.integer(1));
        process.start = row.count(2);
        process.parent = static_cast<std::int32_t>(row.integer(3));
        process.command = row.text(4);
        process.allocator = row.text(5);
        process.agent = row.integer(6) != 0;
        process.seconds = seconds_of(row.integer(7));
        if (!row.is_null(8)) process.ended = seconds_of(row.integer(8));
        found[row.integer(0)].process = std::move(process);
      },
      run);
  for (const auto& [number, original] : originals) {
    const auto process = found.find(number);
    if (process != found.end()) restore(process->second.process.command, original, "command");
  }
  for (const auto& [number, rss] : read_peaks(database, run)) {
    const auto process = found.find(number);
    if (process != found.end()) process->second.process.peak_rss = rss;
  }
  for (auto& [number, history] : found) {
    for (const NumberedReading& bucket : read_buckets(database, run, number))
      history.readings.push_back(bucket.reading);
  }
  for (const NumberedReading& sample : read_samples(database, run)) {
    const auto process = found.find(sample.process);
    if (process != found.end()) process->second.readings.push_back(sample.reading);
  }
  // In a sound record they are; readers rely on it.
  for (auto& [number, history] : found) {
    std::stable_sort(history.readings.begin(), history.readings.end(),
                     [](const Reading& a, const Reading& b) { return a.seconds < b.seconds; });
  }
  return found;
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
  std::vector<RunSummary> found;
  database_.each(all_runs(database_), [&](const Row& row) { found.push_back(summary_of(row)); });
  const auto originals = read_originals_of_runs(database_);
  for (RunSummary& summary : found)
    restore_run(summary.run, originals, summary.run.id);
  const auto deaths = read_deaths(database_);
  for (RunSummary& summary : found)
    restore_death(summary.run, deaths);
  if (database_.failed()) return database_.take_failure();
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
  RecordedRun result;
  bool found = false;
  // One transaction for reading: all tables as of the same moment.
  database_.script("BEGIN");
  database_.each(all_runs(database_), [&](const Row& row) {
    if (row.integer(0) != id) return;
    result.summary = summary_of(row);
    found = true;
  });
  const auto originals = read_originals(database_, id);
  restore_run(result.summary.run, originals, kRunItself);
  restore_death(result.summary.run, read_deaths(database_));
  std::map<std::int64_t, ProcessHistory> processes = read_processes(database_, id, originals);
  const auto key_of = [&](std::int64_t number) {
    const auto process = processes.find(number);
    return process == processes.end() ? ProcessKey{} : process->second.process.key();
  };
  result.place = read_place(database_, id);
  for (NumberedAction& action : read_actions(database_, id)) {
    action.action.process = key_of(action.process);
    result.actions.push_back(action.action);
  }
  database_.each(
      "SELECT ms, process, number FROM rounds WHERE run = ? ORDER BY ms, process",
      [&](const Row& row) {
        result.rounds.push_back({key_of(row.integer(1)), seconds_of(row.integer(0)), row.count(2)});
      },
      id);
  database_.each(
      "SELECT ms, kind, text, process FROM events WHERE run = ? ORDER BY ms, number",
      [&](const Row& row) {
        Event event{seconds_of(row.integer(0)), row.text(1), row.text(2), std::nullopt};
        if (!row.is_null(3)) event.process = key_of(row.integer(3));
        result.events.push_back(std::move(event));
      },
      id);
  for (NumberedBeside& one : read_beside(database_, id)) {
    one.beside.process = key_of(one.process);
    result.beside.push_back(std::move(one.beside));
  }
  read_sites(database_, id, key_of, result);
  database_.script("COMMIT");
  if (database_.failed()) {
    base::Error failure = database_.take_failure();
    if (!database_.script("ROLLBACK")) static_cast<void>(database_.take_failure());
    return failure;
  }
  if (!found) return no_such_run(std::to_string(id), database_.path());
  for (auto& [number, history] : processes)
    result.processes.push_back(std::move(history));
  return result;
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
