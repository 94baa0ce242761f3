// SPDX-License-Identifier: Apache-2.0
// The simulator without a store and without pages, for builds that have neither SQLite nor npm.
#include "cli/simulate/outlets.h"

namespace ebb::cli {

base::Result<record::Place> place_of_simulations(const std::string& db) {
  if (db.empty()) return record::Place{};
  return base::error(base::Code::unavailable, "--db '%s': this build of ebb-simulate has no record",
                     db.c_str());
}

std::unique_ptr<archive::SimulationRecord> record_simulation(const std::string&,
                                                             const fl::SweepPart&,
                                                             const fl::SimulationResult&) {
  return std::make_unique<archive::SimulationRecord>();
}

base::Status can_write_pages() {
  return base::error(base::Code::unavailable, "--html: this build of ebb-simulate writes no pages");
}

base::Status write_page(const show::SimulateOutcome&, const std::string&) {
  return can_write_pages();
}

}  // namespace ebb::cli
