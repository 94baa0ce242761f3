// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "archive/simulation_record.h"
#include "base/result.h"
#include "record/place.h"
#include "show/simulate/outcome.h"

namespace ebb::cli {

// Where simulations go to beside their folder. A build without SQLite and npm has neither.

/// As record::place_of. Code::unavailable where a record is named and this build has none.
base::Result<record::Place> place_of_simulations(const std::string& db);

/// As archive::record_simulation; records nothing where this build has no record.
std::unique_ptr<archive::SimulationRecord> record_simulation(const std::string& path,
                                                             const fl::SweepPart& part,
                                                             const fl::SimulationResult& so_far);

/// Code::unavailable where this build writes no pages.
base::Status can_write_pages();

/// Writes simulations as a page. Requires: a method with a repeat.
base::Status write_page(const show::SimulateOutcome& outcome, const std::string& path);

}  // namespace ebb::cli
