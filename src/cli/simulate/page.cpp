// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/page.h"

#include "page/render.h"
#include "show/simulate/outcome_page.h"

namespace ebb::cli {

base::Status can_write_pages() {
  return {};
}

base::Status write_page(const show::SimulateOutcome& outcome, const std::string& path) {
  return page::write(show::page_of_simulations(outcome), path);
}

}  // namespace ebb::cli
