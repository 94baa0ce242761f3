// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/option.h"
#include "base/result.h"
#include "fl/sweep_words.h"

namespace ebb::cli {

/// What `ebb simulate` and `ebb compare` were told, as it was written.
struct SimulateWords : fl::SweepWords {
  fl::Execution execution;
  std::string folder;
  bool no_folder = false;
  std::string html;
  std::string db;
  bool no_record = false;
  bool json = false;
  bool stream = false;
  bool list = false;
  bool dry_run = false;
  bool quiet = false;
};
base::Options options_of(SimulateWords& words);

/// The same, understood: every method with every seed.
struct SimulateOrder : fl::Sweep {
  bool compare = false;
  fl::Execution execution;  ///< its folder is not chosen yet
  std::string folder;       ///< "": a new one below ebb-runs
  bool writes_folder = true;
  std::string record_path;     ///< "": nothing is recorded
  std::string record_trouble;  ///< why, where it was wanted
  std::string db;              ///< the record that was named
  std::string html;
  bool json = false;
  bool streams = false;  ///< rounds as they end, before what `json` prints
  bool dry_run = false;
  bool quiet = false;
};

/// Code::bad_input names the option, with the nearest name where one is unknown. Reads --config,
/// and what a folder to be resumed says of itself; writes nothing.
base::Result<SimulateOrder> order_from(const SimulateWords& words);

}  // namespace ebb::cli
