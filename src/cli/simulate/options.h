// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace ebb::cli {

/// What `ebb simulate` and `ebb compare` were told, as it was written.
struct SimulateWords {
  bool compare = false;
  std::vector<std::optional<std::string>> settings;  ///< one per setting of the simulation
  std::string methods;                               ///< of compare, with commas
  std::vector<std::string> method_options;
  std::string seeds;
  std::string repeats;
  std::string config;
  std::string data;
  std::string parallel_clients = "auto";
  std::string memory;
  std::string folder;
  std::string resume;
  std::string checkpoint_every = "1";
  std::string gc_rounds = "1";
  std::string heavy_gc_rounds = "10";
  double warn = 85;
  double critical = 90;
  std::string html;
  std::string db;
  bool no_folder = false;
  bool no_record = false;
  bool json = false;
  bool list = false;
  bool dry_run = false;
  bool quiet = false;
};

/// All options of the two verbs; `words` outlives the verb.
void add_simulate_options(CLI::App& verb, SimulateWords& words);

/// What was given, as fl::config_from takes it. Code::bad_input for a number that is none.
base::Result<base::Json> settings_json(const SimulateWords& words);

}  // namespace ebb::cli
