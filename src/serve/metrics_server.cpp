// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics_server.h"

#include <memory>

#include "serve/metrics_page.h"

namespace ebb::serve {

base::Result<MetricsServer> MetricsServer::listen(const std::string& address) {
  const auto where = address_from(address, "--metrics");
  if (!where) return where.error();
  auto server = Server::listen(*where);
  if (!server) return server.error();
  return MetricsServer(*std::move(server));
}

std::string MetricsServer::url() const {
  return "http://" + server_.address().text() + "/metrics";
}

base::Status MetricsServer::start(const std::string& record, std::optional<std::int64_t> only_run) {
  const auto collector = std::make_shared<metrics::Collector>(record, only_run);
  return server_.start({.get = [collector](const Request& request) {
    if (request.path != "/metrics") return refusal(404, "expected /metrics");
    return metrics_page(*collector, request);
  }});
}

}  // namespace ebb::serve
