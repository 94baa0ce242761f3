// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "serve/metrics_server.h"

namespace ebb::serve {

/// What `ebb run --metrics` serves beside a job: /metrics alone.
class JobMetrics {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// Listens on `address`; empty: nowhere. Code::bad_input for what is no address. A port that
  /// cannot be had is said in a line, and the job runs without. `tells`: also where they are.
  static base::Result<JobMetrics> listen(const std::string& address, Say say, bool tells);

  /// Metrics are made from a record. The one that the job is to have: `kept`, or where that is ""
  /// one that goes with `folder`.
  std::string choose_record(const std::string& kept, const std::string& folder);
  bool is_record_passing() const { return is_record_passing_; }

  /// Begins to answer, about that run of the record; where it cannot, says so and listens no more.
  void start(std::int64_t run_id);

 private:
  explicit JobMetrics(Say say) : say_(std::move(say)) {}

  Say say_;
  std::string record_;
  bool is_record_passing_ = false;
  std::optional<MetricsServer> server_;
};

}  // namespace ebb::serve
