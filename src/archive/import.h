// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "fl/simulation.h"

namespace ebb::archive {

/// A simulation that a machine without a record has left in a folder.
struct Imported {
  std::string folder;
  fl::SimulationResult result;
  std::int64_t run = 0;    ///< its number in the record
  bool was_there = false;  ///< before
};
/// The numbers: `imported` and `known`.
base::Json to_json(const std::vector<Imported>& all);

/// The simulations in `folders` become runs of the record at `path`; those that are in it already,
/// with the same configuration and the same last round, do not. Nothing is taken in where one of
/// them cannot be read.
base::Result<std::vector<Imported>> import_simulations(const std::string& path,
                                                       const std::vector<std::string>& folders);

}  // namespace ebb::archive
