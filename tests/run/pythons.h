// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "support/subprocess.h"

namespace ebb::run {

/// Each minor version of Python that is here once, by its number: on PATH, of pyenv, and those that
/// EBB_TEST_PYTHONS names, with colons between them.
inline std::map<int, std::string> pythons() {
  std::vector<std::string> candidates;
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  const std::string named = variable("EBB_TEST_PYTHONS"), path = variable("PATH");
  for (const std::string_view one : base::split(named, ':'))
    candidates.emplace_back(one);
  std::vector<std::string> folders;
  for (const std::string_view one : base::split(path, ':'))
    folders.emplace_back(one);
  std::error_code failure;
  for (const auto& version :
       std::filesystem::directory_iterator(variable("HOME") + "/.pyenv/versions", failure))
    folders.push_back(version.path().string() + "/bin");
  for (const std::string& folder : folders)
    for (int minor = 9; minor <= 14; ++minor)
      candidates.push_back(folder + "/python3." + std::to_string(minor));
  std::map<int, std::string> found;
  for (const std::string& program : candidates) {
    if (program.empty() || ::access(program.c_str(), X_OK) != 0) continue;
    const support::Finished asked = support::run(
        {program, "-c", "import sys, ctypes; print(sys.version_info.minor, sys.abiflags)"});
    // A version that pyenv knows and has not chosen fails.
    if (asked.status == 0) found.emplace(std::atoi(asked.output.c_str()), program);
  }
  return found;
}

}  // namespace ebb::run
