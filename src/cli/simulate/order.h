// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/simulate/options.h"
#include "fl/sweep.h"

namespace ebb::cli {

/// What `ebb simulate` and `ebb compare` were told, understood: every method with every seed.
struct SimulateOrder : fl::Sweep {
  bool compare = false;
  fl::Execution execution;  ///< its folder is not chosen yet
  std::string folder;       ///< "": a new one below ebb-runs
  bool writes_folder = true;
  std::string record_path;  ///< "": nothing is recorded
  std::string html;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;
};

/// Code::bad_input names the option, with the nearest name where one is unknown. Reads --config,
/// and what a folder to be resumed says of itself; writes nothing.
base::Result<SimulateOrder> order_from(const SimulateWords& words);

}  // namespace ebb::cli
