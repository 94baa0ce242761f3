// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/config.h"

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

/// The same, understood: every method with every seed.
struct SimulateOrder {
  bool compare = false;
  fl::Config config;        ///< of the first method and seed
  fl::Execution execution;  ///< its folder is not chosen yet
  std::vector<std::string> methods;
  std::vector<fl::ParameterValues> parameters;  ///< of each method
  std::vector<std::uint64_t> seeds;
  std::string folder;  ///< "": a new one below ebb-runs
  bool writes_folder = true;
  std::string record_path;  ///< "": nothing is recorded
  std::string html;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;

  bool is_single() const { return methods.size() * seeds.size() == 1; }
  fl::Config config_of(std::size_t method, std::size_t seed) const;
};

/// The file beside a comparison's folders that a resumed one is read from; a --config as well.
inline constexpr const char* kComparisonFile = "comparison.json";

/// All options of the two verbs; `words` outlives the verb.
void add_simulate_options(CLI::App& verb, SimulateWords& words);

/// What was given, as fl::config_from takes it. Code::bad_input for a number that is none.
base::Result<base::Json> settings_json(const SimulateWords& words);

/// Code::bad_input names the option, with the nearest name where one is unknown. Reads --config,
/// and what a folder to be resumed says of itself; writes nothing.
base::Result<SimulateOrder> order_from(const SimulateWords& words);

/// The networks of the simulator as --model takes them, e.g. "cnn-mnist".
std::vector<std::string> model_names();

/// What kComparisonFile holds.
base::Json comparison_json(const SimulateOrder& order);

}  // namespace ebb::cli
