// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/option.h"
#include "base/result.h"
#include "fl/sweep.h"

namespace ebb::fl {

/// What is to be simulated, as people write it. Messages name options as the command line does.
struct SweepWords {
  bool compare = false;                              ///< several methods; else that of the Config
  std::vector<std::optional<std::string>> settings;  ///< one per option of a Config
  std::string methods;                               ///< with commas, where they are compared
  std::vector<std::string> method_options;           ///< as SweepFile has them
  std::string seeds;                                 ///< with commas
  std::string repeats;                               ///< number of seeds, from that of the Config
  std::string config;                                ///< a file, for what is not said otherwise
  std::string resume;                                ///< the folder of a simulation, likewise
};

/// They point into `words`, which outlives them.
base::Options options_of(SweepWords& words);

/// Every method with every seed. Reads the file, or what the folder says of itself.
/// Code::bad_input names the option, with the nearest name where one is unknown.
base::Result<Sweep> sweep_from(const SweepWords& words);

/// The methods of `words` or else of `file`, each with its parameters, into `sweep`, whose config
/// is set.
base::Status set_methods(const SweepWords& words, const SweepFile& file, Sweep& sweep);

}  // namespace ebb::fl
