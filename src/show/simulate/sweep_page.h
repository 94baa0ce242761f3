// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fl/simulation.h"
#include "page/document.h"
#include "record/store.h"

namespace ebb::show {

/// A recorded simulation, understood.
struct SimulatedRun {
  std::int64_t run = 0;
  std::uint32_t parts = 1;  ///< of its sweep
  fl::SimulationResult result;
};

/// Null where it cannot be read.
std::shared_ptr<const SimulatedRun> read_simulation(const record::RecordedSimulation& recorded);

/// Recorded simulations on one page, as page_of_simulations() has it: those that differ in their
/// seed alone are repeats of one method, and of two with the same seed the one that came further
/// counts. Those that go on are drawn as far as they are, and not ranked. What is null is left out.
/// Its links lead to the runs' own pages, which stand beside it.
page::Document page_of_sweep(const std::vector<std::shared_ptr<const SimulatedRun>>& simulations);

}  // namespace ebb::show
