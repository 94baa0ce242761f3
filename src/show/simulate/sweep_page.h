// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "page/document.h"
#include "record/store.h"

namespace ebb::show {

/// Recorded simulations on one page, as page_of_simulations() has it: those that differ in their
/// seed alone are repeats of one method, and of two with the same seed the one that came further
/// counts. Those that go on are drawn as far as they are, and not ranked. A simulation that cannot
/// be read is left out. Its links lead to the runs' own pages, which stand beside it.
page::Document page_of_sweep(const std::vector<record::RecordedSimulation>& simulations);

}  // namespace ebb::show
