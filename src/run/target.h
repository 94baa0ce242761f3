// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace ebb::run {

/// What will really be started, as far as it can be told before.
struct Target {
  std::string path;      ///< the file that a command's first word names; empty where there is none
  std::string program;   ///< the ELF file that runs: `path`, or the interpreter of a script
  std::string no_agent;  ///< why the agent cannot be preloaded into it; empty where it can
};

/// Why a program does not take a preloaded library of this build: it is static, for another C
/// library or processor, or runs with other rights than ours. Empty where it does.
std::string why_no_agent_in(const std::string& program);

/// Why allocations of a program that takes the agent cannot be sampled: it brings a malloc of its
/// own, or a sanitizer's. Empty where they can, or where it cannot be told.
std::string why_no_sites_in(const std::string& program);

/// Looks a command up in `search_path` as execvp does, follows `#!` lines, and reads whether the
/// program takes the agent.
Target find_target(const std::string& command, const std::string& search_path);

}  // namespace ebb::run
