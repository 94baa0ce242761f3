// SPDX-License-Identifier: Apache-2.0
#include "record/run_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "record/beside_rows.h"
#include "record/deaths.h"
#include "record/device_rows.h"
#include "record/liveness.h"
#include "record/mapped_rows.h"
#include "record/originals.h"
#include "record/peaks.h"
#include "record/rows.h"
#include "record/site_rows.h"
#include "record/table.h"
#include "record/values.h"

namespace ebb::record {
namespace {

// From another container only the time of its last write tells whether a run goes on.
constexpr double kSilentSeconds = 30;

Query runs_where(const std::string& rest) {
  return Query::of([&](int version) {
    return std::string(
               "SELECT id, name, command, role, allocator, host, version, started, ended, "
               "exit_code, signal, ending, interval, limit_bytes, writer, seen, last, peak_rss, "
               "peak_process_rss, processes, samples, rounds, lost, detail, ") +
           (version < 2 ? "NULL" : "peak_group") +
           (version < 7 ? ", NULL, NULL"
                        : ", (SELECT sweep FROM simulations WHERE run = id)"
                          ", (SELECT parts FROM simulations WHERE run = id)") +
           " FROM runs " + rest;
  });
}

std::optional<int> optional_int(const Row& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return static_cast<int>(row.integer(column));
}

State state_of(const Run& run, const std::string& writer, double seen) {
  if (run.ended) return State::ended;
  if (const auto there = is_there(writer)) return *there ? State::running : State::lost;
  const double silence = std::abs(base::unix_seconds() - seen);
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
  summary.sweep = row.text(25);
  summary.sweep_parts = row.count(26);
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

std::map<std::int64_t, ProcessHistory> read_processes(
    Database& database, std::int64_t run, std::optional<std::int64_t> from_ms,
    const std::map<std::int64_t, base::Json>& originals) {
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
    if (from_ms) break;
    for (const NumberedReading& bucket : read_buckets(database, run, number))
      history.readings.push_back(bucket.reading);
  }
  for (const NumberedReading& sample : read_samples(database, run, kAllTime, from_ms.value_or(0))) {
    const auto process = found.find(sample.process);
    if (process != found.end()) process->second.readings.push_back(sample.reading);
  }
  // In a sound record they are; readers rely on it.
  for (auto& [number, history] : found) {
    history.number = number;
    std::stable_sort(history.readings.begin(), history.readings.end(),
                     [](const Reading& a, const Reading& b) { return a.seconds < b.seconds; });
  }
  return found;
}

}  // namespace

std::vector<RunSummary> read_summaries(Database& database, bool only_unended) {
  static const Query all = runs_where("ORDER BY id DESC");
  static const Query unended = runs_where("WHERE ended IS NULL ORDER BY id DESC");
  std::vector<RunSummary> found;
  database.each((only_unended ? unended : all).text(database.schema()),
                [&](const Row& row) { found.push_back(summary_of(row)); });
  const auto originals = read_originals_of_runs(database);
  const auto deaths = read_deaths(database);
  for (RunSummary& summary : found) {
    restore_run(summary.run, originals, summary.run.id);
    restore_death(summary.run, deaths);
  }
  return found;
}

std::optional<RunSummary> read_summary(Database& database, std::int64_t id) {
  static const Query query = runs_where("WHERE id = ?");
  std::optional<RunSummary> found;
  database.each(
      query.text(database.schema()), [&](const Row& row) { found = summary_of(row); }, id);
  if (!found) return found;
  restore_run(found->run, read_originals(database, id), kRunItself);
  restore_death(found->run, read_deaths(database));
  return found;
}

std::optional<RecordedRun> read_whole_run(Database& database, std::int64_t id,
                                          std::optional<double> from) {
  auto summary = read_summary(database, id);
  if (!summary) return std::nullopt;
  RecordedRun result;
  result.summary = *std::move(summary);
  std::optional<std::int64_t> from_ms;
  if (from) from_ms = milliseconds(*from);
  const auto originals = read_originals(database, id);
  std::map<std::int64_t, ProcessHistory> processes =
      read_processes(database, id, from_ms, originals);
  const auto key_of = [&](std::int64_t number) {
    const auto process = processes.find(number);
    return process == processes.end() ? ProcessKey{} : process->second.process.key();
  };
  result.place = read_place(database, id, kAllTime, from_ms.value_or(0));
  for (NumberedAction& action : read_actions(database, id)) {
    action.action.process = key_of(action.process);
    result.actions.push_back(action.action);
  }
  database.each(
      "SELECT ms, process, number FROM rounds WHERE run = ? ORDER BY ms, process",
      [&](const Row& row) {
        result.rounds.push_back({key_of(row.integer(1)), seconds_of(row.integer(0)), row.count(2)});
      },
      id);
  database.each(
      "SELECT ms, kind, text, process FROM events WHERE run = ? ORDER BY ms, number",
      [&](const Row& row) {
        Event event{seconds_of(row.integer(0)), row.text(1), row.text(2), std::nullopt};
        if (!row.is_null(3)) event.process = key_of(row.integer(3));
        result.events.push_back(std::move(event));
      },
      id);
  for (NumberedBeside& one : read_beside(database, id)) {
    one.beside.process = key_of(one.process);
    result.beside.push_back(std::move(one.beside));
  }
  for (NumberedDevice& one : read_devices(database, id)) {
    if (one.process != kMachineItself) one.device.process = key_of(one.process);
    result.devices.push_back(one.device);
  }
  for (NumberedMapped& one : read_mapped(database, id)) {
    one.mapped.process = key_of(one.process);
    result.mapped.push_back(one.mapped);
  }
  if (!from) read_sites(database, id, key_of, result);
  for (auto& [number, history] : processes)
    result.processes.push_back(std::move(history));
  return result;
}

}  // namespace ebb::record
