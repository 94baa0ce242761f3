// SPDX-License-Identifier: Apache-2.0
#include "record/run_file.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "record/beside_rows.h"
#include "record/deaths.h"
#include "record/device_rows.h"
#include "record/liveness.h"
#include "record/mapped_rows.h"
#include "record/originals.h"
#include "record/peaks.h"
#include "record/rows.h"
#include "record/schema.h"
#include "record/secrets.h"
#include "record/simulation_rows.h"
#include "record/site_rows.h"

namespace ebb::record {
namespace {

// Short, so that a lock of somebody else is noticed and told; the batch is tried again later.
constexpr int kBusyMs = 250;
constexpr int kBeginBusyMs = 1000;
constexpr std::size_t kLongestWord = 256;
constexpr std::size_t kLongestText = 500;
constexpr std::size_t kThinEveryRows = 1000;
constexpr std::uint64_t kThinFileEveryWrites = 16;
// Samples per bucket to begin with.
constexpr std::int64_t kFirstBucket = 8;

std::int64_t now_ms() {
  return record::milliseconds(base::unix_seconds());
}

std::optional<std::int64_t> milliseconds(const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  return record::milliseconds(*seconds);
}

}  // namespace

RunFile::RunFile(Database database, Run run, const FileBounds& bounds)
    : database_(std::move(database)),
      run_(std::move(run)),
      bounds_(bounds),
      writer_(this_writer()) {
  run_.command = run_.is_private ? program_only(run_.command) : without_secrets(run_.command);
}

base::Result<RunFile> RunFile::begin(const std::string& path, const Run& run,
                                     const FileBounds& bounds) {
  auto database = open_for_writing(path, kBeginBusyMs);
  if (!database) return database.error();
  RunFile file(*std::move(database), run, bounds);
  file.run_.id = 0;
  if (const auto done = file.transact({}); !done) return done.error();
  file.database_.wait_for_locks(kBusyMs);
  return file;
}

base::Status RunFile::write(const Batch& batch) {
  if (!database_.is_in_place()) {
    auto again = open_for_writing(database_.path(), kBusyMs);
    if (!again) return again.error();
    database_ = *std::move(again);
    forget_stored();
  }
  return transact(batch);
}

base::Status RunFile::finish(const Run& run) {
  run_.ended = run.ended;
  run_.exit_code = run.exit_code;
  run_.signal = run.signal;
  run_.ending = run.ending;
  run_.death = run.death;
  run_.peak_group = run.peak_group;
  close_round_of_samples();
  return write({});
}

base::Status RunFile::transact(const Batch& batch) {
  const Totals before = totals_;
  note(batch);
  const auto done = in_transaction(database_, [&] {
    store_run();
    if (run_.death) store_death(database_, run_.id, *run_.death);
    store_processes();
    store(batch);
    // Thinning needs room itself: after a failure, the batch alone has to go through first.
    if (!failed_before_) thin(batch.size());
    return true;
  });
  failed_before_ = !done;
  if (!done) {
    totals_ = before;
    return done;
  }
  for (auto& [key, entry] : entries_) {
    entry.is_stored = true;
    entry.stored_peak = entry.peak;
  }
  if (entries_.size() > static_cast<std::size_t>(kRunning.processes)) forget_removed_processes();
  return done;
}

RunFile::Entry* RunFile::entry_of(const ProcessKey& key, double seconds) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= 2 * static_cast<std::size_t>(kRunning.processes)) return nullptr;
  Entry& entry = entries_[key];
  entry.number = next_number_++;
  entry.process.pid = key.pid;
  entry.process.start = key.start;
  entry.process.seconds = seconds;
  return &entry;
}

void RunFile::note_time(double seconds) {
  totals_.last_ms = std::max(totals_.last_ms, record::milliseconds(seconds));
}

void RunFile::note_process(const Process& process) {
  Entry* entry = entry_of(process.key(), process.seconds);
  if (entry == nullptr) {
    ++totals_.refused;
    return;
  }
  if (process.peak_rss) note_peak(*entry, *process.peak_rss);
  const std::optional<double> ended = process.ended ? process.ended : entry->process.ended;
  entry->process = process;
  if (run_.is_private) entry->process.command = program_only(process.command);
  entry->process.ended = ended;
  entry->is_stored = false;
  note_time(process.seconds);
}

void RunFile::note_end(const ProcessKey& key, double seconds) {
  note_time(seconds);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.process.ended = seconds;
  entry.is_stored = false;
  close_round_of_samples();
  sum_rss_ -= entry.rss;
  entry.rss = 0;
}

/// The sum over all processes means something once each of them was read again.
void RunFile::close_round_of_samples() {
  totals_.peak_rss = std::max(totals_.peak_rss, sum_rss_);
  sampled_.clear();
}

void RunFile::note_peak(Entry& entry, std::uint64_t rss) {
  entry.peak = std::max(entry.peak, rss);
  totals_.peak_process_rss = std::max(totals_.peak_process_rss, rss);
}

void RunFile::note_sample(const Sample& sample) {
  note_time(sample.seconds);
  Entry* entry = entry_of(sample.process, sample.seconds);
  if (entry == nullptr) {
    ++totals_.lost;
    return;
  }
  if (!sampled_.insert(sample.process).second) {
    close_round_of_samples();
    sampled_.insert(sample.process);
  }
  const std::uint64_t rss = sample.memory.rss.value_or(0);
  sum_rss_ = sum_rss_ - entry->rss + rss;
  entry->rss = rss;
  note_peak(*entry, std::max(rss, sample.peak_rss.value_or(0)));
  ++totals_.samples;
}

void RunFile::note(const Batch& batch) {
  totals_.lost += batch.lost;
  for (const Process& process : batch.processes)
    note_process(process);
  auto end = batch.ended.begin();
  for (const Sample& sample : batch.samples) {
    for (; end != batch.ended.end() && end->second <= sample.seconds; ++end)
      note_end(end->first, end->second);
    note_sample(sample);
  }
  for (; end != batch.ended.end(); ++end)
    note_end(end->first, end->second);
  for (const Action& action : batch.actions)
    entry_of(action.process, action.seconds);
  for (const Round& round : batch.rounds)
    entry_of(round.process, round.seconds);
  for (const Event& event : batch.events) {
    if (event.process) entry_of(*event.process, event.seconds);
    note_time(event.seconds);
  }
  for (const PlaceSample& place : batch.places)
    note_time(place.seconds);
  for (const Beside& beside : batch.beside)
    entry_of(beside.process, beside.seconds);
  for (const DeviceSample& device : batch.devices)
    if (device.process) entry_of(*device.process, device.seconds);
  for (const Mapped& mapped : batch.mapped)
    entry_of(mapped.process, mapped.seconds);
  for (const Sampling& sampling : batch.samplings)
    entry_of(sampling.process, sampling.seconds);
  totals_.rounds += batch.rounds.size();
}

bool RunFile::store_run() {
  const std::int64_t started = record::milliseconds(run_.started);
  const std::string ending = fact::name_of(run_.ending);
  const std::uint64_t processes = static_cast<std::uint64_t>(next_number_ - 1) + totals_.refused;
  database_.run(
      "UPDATE runs SET peak_group = ?, ended = ?, exit_code = ?, signal = ?, ending = ?, seen = ?, "
      "last = ?, "
      "peak_rss = ?, peak_process_rss = ?, processes = ?, samples = ?, rounds = ?, lost = ? "
      "WHERE id = ? AND started = ? AND writer = ?",
      run_.peak_group, milliseconds(run_.ended), run_.exit_code, run_.signal, ending, now_ms(),
      totals_.last_ms, totals_.peak_rss, totals_.peak_process_rss, processes, totals_.samples,
      totals_.rounds, totals_.lost, run_.id, started, writer_);
  if (database_.failed() || database_.changed() > 0) return !database_.failed();
  // The first time, and where the row or the whole file was removed by somebody.
  const bool taken = database_.number("SELECT count(*) FROM runs WHERE id = ?", run_.id) > 0;
  const std::int64_t id = taken ? 0 : run_.id;
  database_.run(
      "INSERT INTO runs(id, name, command, role, allocator, host, version, started, ended, "
      "exit_code, signal, ending, interval, limit_bytes, writer, seen, last, peak_rss, "
      "peak_process_rss, processes, samples, rounds, lost, peak_group) "
      "VALUES(nullif(?,0),?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      id, shortened(run_.name, kLongestWord), command_json(run_.command).text(),
      shortened(run_.role, kLongestWord), shortened(run_.allocator, kLongestWord),
      shortened(run_.host, kLongestWord), shortened(run_.version, kLongestWord), started,
      milliseconds(run_.ended), run_.exit_code, run_.signal, ending,
      record::milliseconds(run_.interval), run_.limit, writer_, now_ms(), totals_.last_ms,
      totals_.peak_rss, totals_.peak_process_rss, processes, totals_.samples, totals_.rounds,
      totals_.lost, run_.peak_group);
  run_.id = database_.number("SELECT last_insert_rowid()");
  store_original(database_, run_.id, kRunItself,
                 base::Json::object({{"name", shortened(run_.name, kLongestWord)},
                                     {"command", command_json(run_.command)}}));
  forget_stored();
  return !database_.failed();
}

void RunFile::forget_stored() {
  for (auto& [key, entry] : entries_) {
    entry.is_stored = false;
    entry.stored_peak = 0;
  }
}

void RunFile::store_processes() {
  const std::int64_t width =
      std::max<std::int64_t>(kFirstBucket * record::milliseconds(run_.interval), kFirstBucket);
  for (const auto& [key, entry] : entries_) {
    if (entry.peak > entry.stored_peak) store_peak(database_, run_.id, entry.number, entry.peak);
    if (entry.is_stored) continue;
    const Process& process = entry.process;
    database_.run(
        "INSERT INTO processes VALUES(?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(run, process) DO UPDATE "
        "SET parent = excluded.parent, command = excluded.command, allocator = excluded.allocator, "
        "agent = excluded.agent, began = excluded.began, ended = excluded.ended",
        run_.id, entry.number, process.pid, process.start, process.parent,
        shortened(process.command, kLongestText), shortened(process.allocator, kLongestWord),
        process.agent, record::milliseconds(process.seconds), milliseconds(process.ended), width);
    store_original(database_, run_.id, entry.number,
                   base::Json::object({{"command", shortened(process.command, kLongestText)}}));
  }
}

void RunFile::store(const Batch& batch) {
  for (const Sample& sample : batch.samples) {
    if (const Entry* entry = entry_of(sample.process, sample.seconds)) {
      insert(database_, run_.id, entry->number, sample);
    }
  }
  for (const PlaceSample& place : batch.places)
    insert(database_, run_.id, PlaceReading{place, place.seconds, 1, place.used});
  for (const Round& round : batch.rounds) {
    if (const Entry* entry = entry_of(round.process, round.seconds)) {
      database_.run("INSERT OR REPLACE INTO rounds VALUES(?,?,?,?)", run_.id,
                    record::milliseconds(round.seconds), entry->number, round.number);
    }
  }
  for (const Action& action : batch.actions) {
    if (const Entry* entry = entry_of(action.process, action.seconds)) {
      insert(database_, run_.id, NumberedAction{entry->number, action});
    }
  }
  for (const Beside& beside : batch.beside) {
    if (const Entry* entry = entry_of(beside.process, beside.seconds))
      insert(database_, run_.id, entry->number, beside);
  }
  for (const DeviceSample& device : batch.devices) {
    const Entry* entry = device.process ? entry_of(*device.process, device.seconds) : nullptr;
    if (entry != nullptr || !device.process)
      insert(database_, run_.id, entry != nullptr ? entry->number : kMachineItself, device);
  }
  const auto insert_each = [&](const auto& rows) {
    for (const auto& row : rows)
      if (const Entry* entry = entry_of(row.process, row.seconds))
        insert(database_, run_.id, entry->number, row);
  };
  insert_each(batch.mapped);
  insert_each(batch.samplings);
  insert_each(batch.sites);
  insert_each(batch.site_names);
  for (const Simulation& simulation : batch.simulations)
    store_simulation(database_, run_.id, simulation);
  for (const SimulatedRound& round : batch.simulated)
    store_round(database_, run_.id, round);
  for (const Event& event : batch.events) {
    const Entry* entry = event.process ? entry_of(*event.process, event.seconds) : nullptr;
    database_.run("INSERT OR REPLACE INTO events VALUES(?,?,?,?,?,?)", run_.id,
                  record::milliseconds(event.seconds), ++totals_.events,
                  shortened(event.kind, kLongestWord), shortened(event.text, kLongestText),
                  entry == nullptr ? std::nullopt : std::optional(entry->number));
  }
}

void RunFile::thin(std::size_t written) {
  rows_since_thinned_ += written;
  if (rows_since_thinned_ >= kThinEveryRows) {
    bool is_thin = false;
    const std::size_t pieces = 1 + written / static_cast<std::size_t>(kPiece);
    for (std::size_t i = 0; i < pieces && !is_thin; ++i)
      is_thin = thin_run(database_, run_.id, kRunning);
    if (is_thin) rows_since_thinned_ = 0;
  }
  if (!file_is_thin_ || writes_++ % kThinFileEveryWrites == 0)
    file_is_thin_ = thin_file(database_, bounds_, now_ms());
}

void RunFile::forget_removed_processes() {
  std::set<std::int64_t> kept;
  database_.each(
      "SELECT process FROM processes WHERE run = ?",
      [&](const Row& row) { kept.insert(row.integer(0)); }, run_.id);
  if (database_.failed()) {
    static_cast<void>(database_.take_failure());
    return;
  }
  std::erase_if(entries_, [&](const auto& pair) { return kept.count(pair.second.number) == 0; });
}

}  // namespace ebb::record
