// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "metrics/run_watch.h"

namespace ebb::metrics {

/// The metrics of jobs that run now, out of a record. Not thread-safe.
class Collector {
 public:
  /// Of all runs of the file at `path`, or of one.
  explicit Collector(std::string path, std::optional<std::int64_t> only_run = std::nullopt,
                     const base::Clock& clock = base::system_clock())
      : path_(std::move(path)), only_run_(only_run), clock_(&clock) {}

  /// What is known at `unix_seconds`, which is now. Verdicts are at most a quarter of a minute old,
  /// more where finding them takes long. A file that is not there yet has no runs.
  base::Result<std::vector<Family>> collect(double unix_seconds);

 private:
  struct Watched {
    RunWatch watch;
    std::int64_t next_judged_ns = 0;
  };

  base::Status refresh(record::Store& store, std::int64_t run, Watched& watched) const;

  std::string path_;
  std::optional<std::int64_t> only_run_;
  const base::Clock* clock_;
  std::map<std::int64_t, Watched> runs_;
};

}  // namespace ebb::metrics
