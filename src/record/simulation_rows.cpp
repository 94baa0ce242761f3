// SPDX-License-Identifier: Apache-2.0
#include "record/simulation_rows.h"

#include <utility>

namespace ebb::record {
namespace {

constexpr int kSimulationsSince = 7;
constexpr std::int64_t kWidestStride = std::int64_t{1} << 40;

std::int64_t bytes_of(Database& database, std::int64_t run) {
  return database.number(
      "SELECT coalesce(sum(length(json)), 0) FROM simulated_rounds WHERE run = ?", run);
}

}  // namespace

void store_simulation(Database& database, std::int64_t run, const Simulation& simulation) {
  database.run("INSERT OR REPLACE INTO simulations VALUES(?,?,?,?,?)", run, simulation.sweep,
               static_cast<std::int64_t>(simulation.part),
               static_cast<std::int64_t>(simulation.parts), simulation.about);
}

void store_round(Database& database, std::int64_t run, const SimulatedRound& round) {
  database.run("INSERT OR REPLACE INTO simulated_rounds VALUES(?,?,?)", run, round.number,
               round.json);
}

std::optional<Simulation> read_simulation(Database& database, std::int64_t run) {
  std::optional<Simulation> found;
  if (database.schema() < kSimulationsSince) return found;
  database.each(
      "SELECT sweep, part, parts, about FROM simulations WHERE run = ?",
      [&](const Row& row) {
        found = Simulation{row.text(0), static_cast<std::uint32_t>(row.count(1)),
                           static_cast<std::uint32_t>(row.count(2)), row.text(3)};
      },
      run);
  return found;
}

std::vector<SimulatedRound> read_simulated(Database& database, std::int64_t run) {
  std::vector<SimulatedRound> found;
  if (database.schema() < kSimulationsSince) return found;
  database.each(
      "SELECT number, json FROM simulated_rounds WHERE run = ? ORDER BY number",
      [&](const Row& row) {
        found.push_back({row.count(0), row.text(1)});
      },
      run);
  return found;
}

void thin_simulated(Database& database, std::int64_t run, std::int64_t most_bytes) {
  if (most_bytes == 0) return forget_simulation(database, run);
  std::int64_t stride = 1;
  while (bytes_of(database, run) > most_bytes && stride < kWidestStride && !database.failed()) {
    stride *= 2;
    database.run(
        "DELETE FROM simulated_rounds WHERE run = ?1 AND number % ?2 <> 0 AND "
        "number <> (SELECT max(number) FROM simulated_rounds WHERE run = ?1)",
        run, stride);
  }
}

void forget_simulation(Database& database, std::int64_t run) {
  database.run("DELETE FROM simulated_rounds WHERE run = ?", run);
  database.run("DELETE FROM simulations WHERE run = ?", run);
}

}  // namespace ebb::record
