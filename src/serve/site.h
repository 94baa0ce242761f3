// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "metrics/collector.h"
#include "serve/guard.h"
#include "serve/http.h"
#include "serve/pages.h"
#include "serve/plans.h"
#include "serve/snapshots.h"

namespace ebb::serve {

/// What `ebb serve` answers out of one record, which is only read: the list of runs at /, a run at
/// runs/N, some side by side at runs/N,M, simulations compared at runs/compare-N, each with
/// document and events beside it; runs/json, runs/N/json and /metrics. Snapshots, which come in by
/// a POST of their bytes to snapshots?name=NAME, are at snapshots/KEY; a POST to snapshots/KEY/stop
/// ends the search for settings. A plan is at plan?kind=…, with plan/document and plan/json.
/// Not thread-safe.
class Site {
 public:
  /// `base`: the path under which a proxy shows it; "/" or begins and ends with '/'.
  Site(std::string record, Guard guard, std::string base)
      : record_(std::move(record)),
        guard_(std::move(guard)),
        base_(std::move(base)),
        collector_(record_),
        pages_(record_) {
    set_links();
  }

  /// GET and HEAD.
  Answer answer(const Request& request);
  Answer post(const Request& request);

  /// Begins to look at files. Errors as of Snapshots::begin().
  base::Status show_snapshots(const std::vector<std::string>& paths);

  /// As a server's ticker.
  std::vector<Event> news(const std::vector<std::string>& topics);

 private:
  /// Below the base, without a '/' before it: a proxy may strip the base or leave it.
  std::string below_base(const Request& request) const;
  Answer list_json() const;
  Answer run_json(const std::string& number) const;
  /// The page, or with `what` its document or events.
  Answer page(const std::string& name, std::string_view what, const Request& request);

  Answer snapshot(const std::string& name, std::string_view what);
  /// The plan of a query, as a page or as `what`.
  Answer plan(std::string_view what, const std::string& query);
  void set_links();

  std::string record_;
  Guard guard_;
  std::string base_;
  metrics::Collector collector_;
  Pages pages_;
  Snapshots snapshots_;
  Plans plans_;
};

}  // namespace ebb::serve
