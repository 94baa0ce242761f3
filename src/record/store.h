// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/database.h"
#include "record/model.h"
#include "record/reading.h"

namespace ebb::record {

/// $XDG_STATE_HOME/ebb/runs.db, else ~/.local/state/ebb/runs.db. Code::unavailable where neither
/// variable is set to an absolute path.
base::Result<std::string> default_path();

enum class State : std::uint8_t {
  running,
  ended,
  lost,  ///< its recorder is gone and did not say how it ended
};
const char* name_of(State state);

/// What cut a lost run short, as far as it can be told.
enum class CutBy : std::uint8_t {
  unknown,  ///< it was recorded on another machine, or by an Ebb that did not say where
  kill,     ///< its recorder was killed: the machine has not been restarted since
  restart,  ///< the machine has been restarted since, which ends everything
};
/// "kill", "restart"; "" for unknown.
const char* name_of(CutBy cause);

/// One line of the list of runs.
struct RunSummary {
  Run run;
  State state = State::ended;
  CutBy cut_by = CutBy::unknown;  ///< where the state is `lost`
  double seconds = 0;             ///< how long it was recorded
  /// Of all processes together, at least: the most that was seen at one moment, or that one of them
  /// had. Shared pages count in each.
  std::uint64_t peak_rss = 0;
  std::uint64_t peak_process_rss = 0;  ///< of one process, as the kernel kept it
  std::uint64_t processes = 0;         ///< all that were ever seen
  std::uint64_t samples = 0;           ///< all that were ever taken
  std::uint64_t rounds = 0;            ///< all that were ever announced
  std::uint64_t lost = 0;              ///< samples and other entries that could not be written
  std::int64_t detail = 0;             ///< how far it has been thinned: from 0, not at all, to 3
  // Of a simulation, as Simulation has them.
  std::string sweep;
  std::uint64_t sweep_parts = 0;
};

/// A process with what was read of it, in order of time; what is older may be merged.
struct ProcessHistory {
  Process process;
  std::vector<Reading> readings;
  std::int64_t number = 0;  ///< within its run, whatever becomes of others
};

/// Everything of one run. Rounds, actions and events whose process is no longer kept have its key
/// as {0, 0}.
struct RecordedRun {
  RunSummary summary;
  std::vector<ProcessHistory> processes;  ///< in order of their first sight
  std::vector<PlaceReading> place;
  std::vector<Round> rounds;
  std::vector<Action> actions;
  std::vector<Event> events;
  std::vector<Beside> beside;  ///< allocators of libraries' own
  std::vector<DeviceSample> devices;
  std::vector<Mapped> mapped;  ///< parts of ledgers, the last of each process
  // In order of time within their process.
  std::vector<Sampling> samplings;
  std::vector<Site> sites;
  std::vector<SiteName> site_names;
};

/// What a run has simulated until now.
struct RecordedSimulation {
  RunSummary summary;
  Simulation simulation;
  std::vector<SimulatedRound> rounds;  ///< of a long one every second, fourth …, and the last
};

/// A record to read and to remove from, while others may be writing to it. Not thread-safe.
class Store {
 public:
  /// Code::not_found where there is no such file.
  static base::Result<Store> open(const std::string& path);

  /// The newest first.
  base::Result<std::vector<RunSummary>> runs();

  /// Those that are running, the newest first.
  base::Result<std::vector<RunSummary>> running();

  /// By number, by name (the newest of that name), or "last". A name of digits is a number first.
  base::Result<RunSummary> find(const std::string& run);

  /// Those that are not running and that nobody has written to since `unix_seconds`.
  base::Result<std::vector<std::int64_t>> ended_before(double unix_seconds);

  /// As of one moment, also where the run goes on.
  base::Result<RecordedRun> read(std::int64_t id);

  /// The same without sites, and of readings and places only those from `seconds` on that were not
  /// merged yet: little, where somebody asks again and again.
  base::Result<RecordedRun> recent(std::int64_t id, double seconds);

  /// Code::not_found where there is no such run, or where it simulates nothing.
  base::Result<RecordedSimulation> simulation(std::int64_t id);

  /// Removes runs for good. Where one of them is running (Code::bad_input) or not there
  /// (Code::not_found), none is removed.
  base::Status remove(const std::vector<std::int64_t>& ids);

 private:
  explicit Store(Database database) : database_(std::move(database)) {}

  template <class T>
  base::Result<T> at_one_moment(std::int64_t id, const std::function<std::optional<T>()>& read);
  base::Result<RecordedRun> read_from(std::int64_t id, std::optional<double> seconds);

  Database database_;
};

}  // namespace ebb::record
