// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/launch.h"
#include "run/options.h"

namespace ebb::run {

/// A way of starting a command that is worth trying.
struct Setting {
  std::string name;                    ///< for a table
  std::vector<std::string> arguments;  ///< of `ebb run`; none: the command alone
  std::optional<keep::Role> role;
  std::string allocator = "keep";
  bool manage = true;
};

/// The command as it is, managed, with the environments of roles, and on each allocator that is
/// installed here.
std::vector<Setting> settings_worth_trying();

/// What a command took under one setting, the supervisor counted in.
struct Trial {
  Setting setting;
  std::uint64_t peak_rss = 0;
  std::uint64_t steady_rss = 0;  ///< median of the second half
  double cpu_seconds = 0;
  double wall_seconds = 0;
  Ending ending;
};

/// Runs the command once, its output thrown away. Code::bad_input where it cannot be started.
/// Where supervision fails, the command goes on to its end, and that is an error unless the
/// command's own ending says more.
base::Result<Trial> try_setting(const std::vector<std::string>& command, const Setting& setting,
                                double interval_seconds);

/// Told what is tried next, and the share of all trials that is done.
using TrialProgress = std::function<void(double share, const Setting& setting)>;

/// Settings tried in turn.
struct Tried {
  std::vector<Trial> medians;   ///< of each setting, unless one failed
  std::optional<Trial> failed;  ///< the first whose command did not end with status 0
};
/// Every setting `repeat` times, until one fails. Errors as of try_setting().
base::Result<Tried> try_settings(const std::vector<std::string>& command,
                                 const std::vector<Setting>& settings, unsigned repeat,
                                 double interval_seconds, const TrialProgress& progress);

/// The medians of repeated trials of one setting. Requires: not empty.
Trial median_of(const std::vector<Trial>& trials);

/// The setting to keep: the least steady memory among those that take at most a tenth more CPU and
/// wall time (and 2 % of the wall time in CPU) than the command as it is, which is the first.
/// Requires: not empty.
std::size_t best_of(const std::vector<Trial>& trials);

}  // namespace ebb::run
