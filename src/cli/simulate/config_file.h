// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/config.h"

namespace ebb::cli {

/// A configuration out of a file, and what a sweep adds to it.
struct ConfigFile {
  fl::Config config;
  std::vector<std::string> methods;
  std::vector<std::string> method_options;
  std::vector<std::uint64_t> seeds;
};

/// Code::bad_input names the file and what is wrong in it.
base::Result<ConfigFile> read_config_file(const std::string& path);

}  // namespace ebb::cli
