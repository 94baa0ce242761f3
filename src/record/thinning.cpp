// SPDX-License-Identifier: Apache-2.0
#include "record/thinning.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "record/beside_rows.h"
#include "record/deaths.h"
#include "record/device_rows.h"
#include "record/folding.h"
#include "record/mapped_rows.h"
#include "record/originals.h"
#include "record/rows.h"
#include "record/simulation_rows.h"
#include "record/site_rows.h"

namespace ebb::record {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
// Pages are given back to the file system in pieces; a few stay for the next rows.
constexpr std::int64_t kSparePages = 256;

std::int64_t bucket_cap(Database& database, std::int64_t run, const RunBounds& bounds) {
  const std::int64_t processes =
      database.number("SELECT count(*) FROM processes WHERE run = ?", run);
  return std::clamp(bounds.buckets / std::max<std::int64_t>(processes, 1), bounds.least_buckets,
                    bounds.most_buckets);
}

std::int64_t bucket_count(Database& database, std::int64_t run, std::int64_t process) {
  return database.number("SELECT count(*) FROM buckets WHERE run = ? AND process = ?", run,
                         process);
}

void replace_buckets(Database& database, std::int64_t run, std::int64_t process,
                     std::int64_t from_ms, const std::vector<NumberedReading>& buckets) {
  database.run("DELETE FROM buckets WHERE run = ? AND process = ? AND ms >= ?", run, process,
               from_ms);
  for (const NumberedReading& bucket : buckets)
    insert(database, run, bucket);
}

/// Makes the grid of one process so wide that it has at most `cap` buckets.
void widen(Database& database, std::int64_t run, std::int64_t process, std::int64_t cap) {
  const std::vector<NumberedReading> before = read_buckets(database, run, process);
  std::int64_t width =
      database.number("SELECT width FROM processes WHERE run = ? AND process = ?", run, process);
  width = std::clamp<std::int64_t>(width, 1, kWidestGrid);
  std::vector<NumberedReading> after = before;
  while (std::ssize(after) > std::max<std::int64_t>(cap, 1) && width < kWidestGrid) {
    width *= 2;
    after = folded(after, width);
  }
  replace_buckets(database, run, process, 0, after);
  database.run("UPDATE processes SET width = ? WHERE run = ? AND process = ?", width, run, process);
}

void add_to_buckets(Database& database, std::int64_t run, std::int64_t process,
                    std::vector<NumberedReading> rows) {
  const std::int64_t width = std::clamp<std::int64_t>(
      database.number("SELECT width FROM processes WHERE run = ? AND process = ?", run, process), 1,
      kWidestGrid);
  // Samples come in order of time: only the last bucket may get more.
  const std::int64_t from = start_of(rows.front()) / width * width;
  std::vector<NumberedReading> all = read_buckets(database, run, process, from);
  all.insert(all.end(), rows.begin(), rows.end());
  replace_buckets(database, run, process, from, folded(all, width));
}

void thin_places(Database& database, std::int64_t run, std::int64_t most) {
  if (database.number("SELECT count(*) FROM place WHERE run = ?", run) <= most) return;
  const auto rows =
      most == 0 ? std::vector<PlaceReading>{} : thinned(read_place(database, run), most);
  database.run("DELETE FROM place WHERE run = ?", run);
  for (const PlaceReading& row : rows)
    insert(database, run, row);
}

void thin_actions(Database& database, std::int64_t run, std::int64_t most) {
  if (database.number("SELECT count(*) FROM actions WHERE run = ?", run) <= most) return;
  auto rows =
      most == 0 ? std::vector<NumberedAction>{} : thinned(read_actions(database, run), most);
  // With one row per process there may still be more processes than rows.
  if (std::ssize(rows) > most) rows.erase(rows.begin(), rows.end() - most);
  database.run("DELETE FROM actions WHERE run = ?", run);
  for (const NumberedAction& row : rows)
    insert(database, run, row);
}

/// Every second, fourth, eighth … round stays: minima between them are minima of several rounds.
void thin_rounds(Database& database, std::int64_t run, std::int64_t most) {
  std::int64_t count = database.number("SELECT count(*) FROM rounds WHERE run = ?", run);
  if (count <= most) return;
  std::vector<std::int64_t> numbers;
  database.each(
      "SELECT number FROM rounds WHERE run = ?",
      [&](const Row& row) { numbers.push_back(row.integer(0)); }, run);
  std::int64_t stride = 1;
  while (count > most * 3 / 4 && stride < kWidestGrid) {
    stride *= 2;
    count = std::count_if(numbers.begin(), numbers.end(),
                          [&](std::int64_t number) { return number % stride == 0; });
  }
  database.run("DELETE FROM rounds WHERE run = ? AND (number % ? <> 0 OR ?)", run, stride,
               count > most || most == 0);
}

/// Of a kind, or of all where `kind` is "%", the first and the newest stay.
void thin_events(Database& database, std::int64_t run, const std::string& kind, std::int64_t most) {
  const std::int64_t count =
      database.number("SELECT count(*) FROM events WHERE run = ? AND kind LIKE ?", run, kind);
  if (count <= most) return;
  const char* at =
      "SELECT number FROM events WHERE run = ? AND kind LIKE ? ORDER BY number LIMIT 1 OFFSET ?";
  const std::int64_t from = database.number(at, run, kind, most / 4);
  const std::int64_t until =
      most == 0 ? kAllTime : database.number(at, run, kind, count - most / 2);
  database.run("DELETE FROM events WHERE run = ? AND kind LIKE ? AND number >= ? AND number < ?",
               run, kind, from, until);
}

/// Markers come several times a round and must not push the others out.
void thin_events(Database& database, std::int64_t run, std::int64_t most) {
  thin_events(database, run, name_of(EventKind::marker), most / 2);
  thin_events(database, run, "%", most);
}

/// True when there are no more than `most`.
bool forget_processes(Database& database, std::int64_t run, std::int64_t most, bool is_over) {
  const std::int64_t count = database.number("SELECT count(*) FROM processes WHERE run = ?", run);
  if (count <= most) return true;
  struct Life {
    std::int64_t process, began, ended;
  };
  std::vector<Life> lives;
  database.each(
      "SELECT process, began, coalesce(ended, ?) AS end FROM processes "
      "WHERE run = ? AND (ended IS NOT NULL OR ?) ORDER BY end - began LIMIT ?",
      [&](const Row& row) {
        lives.push_back({row.integer(0), row.integer(1), row.integer(2)});
      },
      kAllTime, run, is_over, std::min<std::int64_t>(count - most * 3 / 4, 500));
  for (const Life& life : lives) {
    database.run("DELETE FROM samples WHERE run = ? AND ms >= ? AND ms <= ? AND process = ?", run,
                 life.began, life.ended, life.process);
    database.run("DELETE FROM buckets WHERE run = ? AND process = ?", run, life.process);
    database.run("DELETE FROM peaks WHERE run = ? AND process = ?", run, life.process);
    database.run("DELETE FROM processes WHERE run = ? AND process = ?", run, life.process);
  }
  return lives.empty() || database.failed();
}

/// True when every process has few enough buckets.
bool widen_all(Database& database, std::int64_t run, const RunBounds& bounds) {
  const std::int64_t cap = bucket_cap(database, run, bounds);
  std::vector<std::pair<std::int64_t, std::int64_t>> above;
  database.each(
      "SELECT process, count(*) AS rows FROM buckets WHERE run = ? GROUP BY process "
      "HAVING rows > ?",
      [&](const Row& row) { above.emplace_back(row.integer(0), row.integer(1)); }, run, cap);
  std::int64_t touched = 0;
  for (const auto& [process, rows] : above) {
    if (touched > kPiece) return false;
    widen(database, run, process, cap);
    touched += rows;
  }
  return true;
}

bool needs_room(Database& database, const FileBounds& bounds) {
  const std::int64_t used =
      database.number("PRAGMA page_count") - database.number("PRAGMA freelist_count");
  const std::int64_t size = database.number("PRAGMA page_size");
  return static_cast<std::uint64_t>(std::max<std::int64_t>(used * size, 0)) > bounds.bytes;
}

struct Candidate {
  std::int64_t run = 0;
  std::int64_t detail = 0;
};

std::optional<Candidate> first_candidate(Database& database, const char* sql, std::int64_t now_ms) {
  std::optional<Candidate> found;
  database.each(
      sql,
      [&](const Row& row) {
        found = Candidate{row.integer(0), row.integer(1)};
      },
      now_ms - kDayMs);
  return found;
}

}  // namespace

void fold_samples(Database& database, std::int64_t run, const RunBounds& bounds,
                  std::int64_t most) {
  const std::vector<NumberedReading> rows = read_samples(database, run, most);
  if (rows.empty()) return;
  std::map<std::int64_t, std::vector<NumberedReading>> by_process;
  for (const NumberedReading& row : rows)
    by_process[row.process].push_back(row);
  const std::int64_t cap = bucket_cap(database, run, bounds);
  for (auto& [process, own] : by_process) {
    add_to_buckets(database, run, process, std::move(own));
    if (bucket_count(database, run, process) > cap) widen(database, run, process, cap);
  }
  const std::int64_t last = start_of(rows.back());
  database.run("DELETE FROM samples WHERE run = ? AND (ms < ? OR (ms = ? AND process <= ?))", run,
               last, last, rows.back().process);
}

bool thin_run(Database& database, std::int64_t run, const RunBounds& bounds) {
  if (bounds.processes == 0) {
    database.run("DELETE FROM samples WHERE run = ?", run);
    database.run("DELETE FROM buckets WHERE run = ?", run);
    database.run("DELETE FROM peaks WHERE run = ?", run);
    database.run("DELETE FROM processes WHERE run = ?", run);
  }
  const std::int64_t samples = database.number("SELECT count(*) FROM samples WHERE run = ?", run);
  if (samples > bounds.samples) {
    fold_samples(database, run, bounds, std::min(samples - bounds.samples, kPiece));
    if (samples - bounds.samples > kPiece) return false;
  }
  const bool is_over = bounds.samples == 0;
  if (!forget_processes(database, run, bounds.processes, is_over)) return false;
  if (!widen_all(database, run, bounds)) return false;
  thin_places(database, run, bounds.places);
  thin_actions(database, run, bounds.actions);
  thin_rounds(database, run, bounds.rounds);
  thin_simulated(database, run, bounds.simulated_bytes);
  thin_events(database, run, bounds.events);
  forget_beside(database, run);
  forget_devices(database, run);
  forget_mapped(database, run);
  forget_sites(database, run);
  forget_originals(database, run);
  return true;
}

void remove_row(Database& database, std::int64_t run) {
  database.run("DELETE FROM originals WHERE run = ?", run);
  forget_death(database, run);
  database.run("DELETE FROM devices WHERE run = ?", run);
  database.run("DELETE FROM mapped WHERE run = ?", run);
  database.run("DELETE FROM runs WHERE id = ?", run);
}

bool thin_file(Database& database, const FileBounds& bounds, std::int64_t now_ms) {
  std::int64_t excess = database.number("SELECT count(*) FROM runs") - bounds.runs;
  for (std::int64_t pieces = 0; excess > 0 && pieces < 64; ++pieces, --excess) {
    const auto oldest = first_candidate(
        database,
        "SELECT id, detail FROM runs WHERE ended IS NOT NULL OR seen < ? ORDER BY id LIMIT 1",
        now_ms);
    if (!oldest) {
      excess = 0;
      break;
    }
    if (oldest->detail < kLeastDetail && !thin_run(database, oldest->run, kDetail[kLeastDetail]))
      return false;
    remove_row(database, oldest->run);
  }
  if (excess > 0) return false;
  if (needs_room(database, bounds)) {
    const auto next = first_candidate(database,
                                      "SELECT id, detail FROM runs WHERE detail < 3 AND "
                                      "(ended IS NOT NULL OR seen < ?) ORDER BY detail, id LIMIT 1",
                                      now_ms);
    if (!next) return true;
    const std::int64_t detail = std::clamp<std::int64_t>(next->detail + 1, 1, kLeastDetail);
    if (thin_run(database, next->run, kDetail.at(static_cast<std::size_t>(detail))))
      database.run("UPDATE runs SET detail = ? WHERE id = ?", detail, next->run);
    return false;
  }
  if (database.number("PRAGMA freelist_count") > kSparePages) {
    database.script("PRAGMA incremental_vacuum(256)");
    return false;
  }
  return true;
}

}  // namespace ebb::record
