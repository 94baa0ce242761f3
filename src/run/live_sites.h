// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fact/site.h"

namespace ebb::run {

/// What one stack of calls of a process holds now.
struct LiveSite {
  fact::SiteStack frames;  ///< innermost first; empty where it could not be read
  std::uint64_t bytes = 0;
  std::int64_t grown = 0;  ///< since the first look
};

/// The sites of a running process under `ebb run`, out of the table that it keeps of them.
/// Not thread-safe.
class LiveSites {
 public:
  explicit LiveSites(pid_t pid) : pid_(pid) {}

  /// The stacks that hold most, the most first; looked at once a second at most, by `now` in
  /// seconds. Nothing where the process has no table that may be read.
  const std::optional<std::vector<LiveSite>>& at(double now);

 private:
  void look();
  void begin_with(const std::string& path);

  pid_t pid_;
  std::optional<double> looked_;
  std::string path_;                              ///< of the table; another program has another one
  std::map<std::uint32_t, std::uint64_t> first_;  ///< bytes by stack at the first look
  std::map<std::uint32_t, fact::SiteStack> names_;
  std::optional<std::vector<LiveSite>> sites_;
};

}  // namespace ebb::run
