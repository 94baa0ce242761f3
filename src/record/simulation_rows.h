// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/database.h"
#include "record/model.h"

namespace ebb::record {

// The tables `simulations` and `simulated_rounds`: what runs of the simulator simulate, and what
// their rounds came to. They came with version 7 of the schema. Failures stick to the database.

void store_simulation(Database& database, std::int64_t run, const Simulation& simulation);
void store_round(Database& database, std::int64_t run, const SimulatedRound& round);

/// Nothing where the run simulates nothing.
std::optional<Simulation> read_simulation(Database& database, std::int64_t run);
/// In their order. Of a long simulation every second, fourth, eighth … may be left, and the last.
std::vector<SimulatedRound> read_simulated(Database& database, std::int64_t run);

/// Leaves every second, fourth, eighth … round and the last where all have more than `most_bytes`.
void thin_simulated(Database& database, std::int64_t run, std::int64_t most_bytes);

void forget_simulation(Database& database, std::int64_t run);

}  // namespace ebb::record
