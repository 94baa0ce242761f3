// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/outlets.h"

#include "page/render.h"
#include "show/simulate/outcome_page.h"

namespace ebb::cli {

base::Result<record::Place> place_of_simulations(const std::string& db) {
  return record::place_of(db);
}

std::unique_ptr<archive::SimulationRecord> record_simulation(const std::string& path,
                                                             const fl::SweepPart& part,
                                                             const fl::SimulationResult& so_far) {
  return archive::record_simulation(path, part, so_far);
}

base::Status can_write_pages() {
  return {};
}

base::Status write_page(const show::SimulateOutcome& outcome, const std::string& path) {
  return page::write(show::page_of_simulations(outcome), path);
}

}  // namespace ebb::cli
