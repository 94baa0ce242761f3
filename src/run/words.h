// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/option.h"
#include "base/result.h"
#include "run/options.h"

namespace ebb::run {

/// What `ebb run` was told, as it was written.
struct Words {
  std::vector<std::string> command;
  std::string role;
  std::string allocator;
  double warn = 85;
  double critical = 90;
  std::optional<double> gpu_warn;
  std::optional<double> gpu_critical;
  std::optional<std::uint64_t> headroom;
  std::string on_critical = "clean";
  std::string interval = "1s";
  std::string grace = "10s";
  std::string name;
  std::string db;
  bool no_record = false;
  std::string metrics;
  bool is_private = false;
  bool observe = false;
  bool nvflare = false;
  std::string sites;
  bool no_sites = false;
  bool wait = false;
  bool quiet = false;
  bool dry_run = false;
  bool json = false;
};

/// They point into `words`, which outlives them.
base::Options options_of(Words& words);

/// The same, understood. Code::bad_input names the option. `notes`: what is worth a line.
base::Result<Options> options_from(const Words& words, std::vector<std::string>& notes);

}  // namespace ebb::run
