// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "serve/server.h"

namespace ebb::serve {

/// Serves /metrics and nothing else, at an address of its own: for one job, or without a token.
class MetricsServer {
 public:
  /// Listens at once and answers nobody yet. `address` as --metrics has it; Code::bad_input for
  /// what is none.
  static base::Result<MetricsServer> listen(const std::string& address);

  /// "http://127.0.0.1:9322/metrics".
  std::string url() const;

  /// Begins to answer, about all runs of a record or one. Errors as of Server::start().
  base::Status start(const std::string& record,
                     std::optional<std::int64_t> only_run = std::nullopt);

 private:
  explicit MetricsServer(Server server) : server_(std::move(server)) {}

  Server server_;
};

}  // namespace ebb::serve
