// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ebb::cli {

/// `ebb runs import`: the simulations in `folders` become runs of the record at `path`, those that
/// are in it already do not. Nothing is taken in where one of them cannot be read.
int import_simulations(const std::string& path, const std::vector<std::string>& folders, bool json);

}  // namespace ebb::cli
