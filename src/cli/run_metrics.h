// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "run/options.h"
#include "serve/metrics_server.h"

namespace ebb::cli {

/// What `ebb run --metrics` serves beside a job: /metrics alone.
class RunMetrics {
 public:
  /// Listens on `address`; empty: nowhere. Code::bad_input for what is no address. A port that
  /// cannot be had is said in a line: the job runs without.
  static base::Result<RunMetrics> listen(const std::string& address, bool quiet);

  /// Metrics are made from a record: one that goes with `folder` where none is kept.
  void choose_record(run::Options& options, const std::string& folder);
  bool is_record_passing() const { return is_record_passing_; }

  /// Begins to answer, about that run of the record; where it cannot, says so and listens no more.
  void start(std::int64_t run_id);

 private:
  std::string record_;
  bool is_record_passing_ = false;
  std::optional<serve::MetricsServer> server_;
};

}  // namespace ebb::cli
