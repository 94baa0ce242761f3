// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/option.h"
#include "base/result.h"
#include "serve/metrics_server.h"
#include "serve/server.h"
#include "serve/site.h"

namespace ebb::serve {

/// What `ebb serve` is told, as it is written.
struct ServiceWords {
  std::string db;
  std::vector<std::string> snapshots;
  std::optional<int> port;
  std::string listen;
  std::string metrics;
  std::vector<std::string> allow_host;
  std::string base = "/";
  bool open = false;
};
base::Options options_of(ServiceWords& words);

/// The pages and metrics of a record, served until this process is asked to end.
class Service {
 public:
  /// Listens and begins to answer. From here on the signals by which people and services end a
  /// program only wake wait(). `say` is told where it answers, and what is not as it was wanted.
  /// Code::bad_input names the option; other errors where it cannot listen.
  static base::Result<std::unique_ptr<Service>> start(
      const ServiceWords& words, const std::function<void(const std::string& line)>& say);

  /// Until a signal ends it. To destroy it waits for the analyses that are going on.
  void wait() const;

 private:
  Service(const std::string& record, Guard guard, const std::string& base, Server server)
      : site_(record, std::move(guard), base), server_(std::move(server)) {}

  base::Status start_metrics(const std::string& address, const std::string& record);
  base::Status start_pages(const std::vector<std::string>& snapshots);

  Site site_;  // outlives what asks it
  Server server_;
  std::optional<MetricsServer> metrics_;
};

}  // namespace ebb::serve
