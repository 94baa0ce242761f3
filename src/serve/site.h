// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "metrics/collector.h"
#include "serve/guard.h"
#include "serve/http.h"

namespace ebb::serve {

/// What `ebb serve` answers: /, runs/N and runs/N/json, runs/json and /metrics, out of one record,
/// which is only read. Not thread-safe.
class Site {
 public:
  /// `base`: the path under which a proxy shows it; "/" or begins and ends with '/'.
  Site(std::string record, Guard guard, std::string base)
      : record_(std::move(record)),
        guard_(std::move(guard)),
        base_(std::move(base)),
        collector_(record_) {}

  Answer answer(const Request& request);

 private:
  Answer list(bool json) const;
  Answer one_run(const std::string& number, bool json) const;

  std::string record_;
  Guard guard_;
  std::string base_;
  metrics::Collector collector_;
};

}  // namespace ebb::serve
