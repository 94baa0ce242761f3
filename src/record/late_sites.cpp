// SPDX-License-Identifier: Apache-2.0
#include "record/late_sites.h"

#include <algorithm>
#include <optional>

#include "record/liveness.h"
#include "record/schema.h"
#include "record/site_rows.h"
#include "record/values.h"

namespace ebb::record {
namespace {

constexpr int kLateBusyMs = 1000;
// No recorder is so late that its run went on for longer after the last thing that it wrote.
constexpr std::int64_t kLatestMs = 60'000;

struct WantingRun {
  std::int64_t id = 0;
  std::int64_t last_ms = 0;
};

/// The run, where it was cut short.
std::optional<WantingRun> find_run(Database& database, const RunMark& mark) {
  std::optional<WantingRun> found;
  database.each(
      "SELECT id, last FROM runs WHERE started = ? AND writer = ? AND ended IS NULL",
      [&](const Row& row) {
        found = WantingRun{row.integer(0), row.integer(1)};
      },
      milliseconds(mark.started), mark.writer);
  return found;
}

base::Error not_wanted(const std::string& path) {
  return base::error(base::Code::not_found, "%s has no such run that was cut short", path.c_str());
}

/// The process's number in the run; a new one where nobody had seen it yet; 0 where what it held
/// when it ended is on record.
std::int64_t process_of(Database& database, std::int64_t run, const LateSites& late) {
  std::int64_t number = 0;
  std::optional<std::int64_t> ended;
  database.each(
      "SELECT process, ended FROM processes WHERE run = ? AND pid = ? ORDER BY began DESC LIMIT 1",
      [&](const Row& row) {
        number = row.integer(0);
        if (!row.is_null(1)) ended = row.integer(1);
      },
      run, std::int64_t{late.pid});
  if (number != 0 && !ended) return number;
  if (ended && milliseconds(late.began) <= *ended) return 0;
  number = database.number("SELECT max(process) FROM processes WHERE run = ?", run) + 1;
  // Its start is not known: no process has the zeroth tick for one.
  database.run("INSERT INTO processes VALUES(?,?,?,0,0,'','',0,?,NULL,1)", run, number,
               std::int64_t{late.pid}, milliseconds(late.began));
  database.run("UPDATE runs SET processes = processes + 1 WHERE id = ?", run);
  return number;
}

bool insert_late(Database& database, const WantingRun& run, const LateSites& late) {
  const std::int64_t process = process_of(database, run.id, late);
  if (process == 0 || database.failed()) return !database.failed();
  const std::int64_t before = database.number(
      "SELECT max(ms) FROM samplings WHERE run = ? AND process = ?", run.id, process);
  // Nobody vouches for what a table says of time: it is behind what is known, and not far.
  const std::int64_t ms =
      std::max(before + 1, std::min(milliseconds(late.sampling.seconds), run.last_ms + kLatestMs));
  Sampling sampling = late.sampling;
  sampling.seconds = seconds_of(ms);
  insert(database, run.id, process, sampling);
  for (Site site : late.sites) {
    site.seconds = sampling.seconds;
    insert(database, run.id, process, site);
  }
  for (const SiteName& name : late.names)
    insert(database, run.id, process, name);
  database.run("UPDATE runs SET last = max(last, ?) WHERE id = ?", ms, run.id);
  return !database.failed();
}

}  // namespace

base::Status wants_late_sites(const std::string& path, const RunMark& mark) {
  auto database = open_for_reading(path);
  if (!database) return database.error();
  const auto run = find_run(*database, mark);
  if (database->failed()) return database->take_failure();
  if (!run) return not_wanted(path);
  if (is_there(mark.writer).value_or(false))
    return base::error(base::Code::unavailable, "%s: its recorder is at work", path.c_str());
  return {};
}

base::Status add_late_sites(const std::string& path, const RunMark& mark, const LateSites& late) {
  // Opened for writing it would be made where it is gone.
  if (const auto wanted = wants_late_sites(path, mark); !wanted) return wanted.error();
  auto database = open_for_writing(path, kLateBusyMs);
  if (!database) return database.error();
  bool is_wanted = true;
  const auto done = in_transaction(*database, [&] {
    const auto run = find_run(*database, mark);
    is_wanted = run.has_value();
    return run && insert_late(*database, *run, late);
  });
  if (!is_wanted) return not_wanted(path);
  return done;
}

}  // namespace ebb::record
