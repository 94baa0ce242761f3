// SPDX-License-Identifier: Apache-2.0
#include "cli/run_metrics.h"

#include "cli/verb.h"
#include "serve/metrics_page.h"

namespace ebb::cli {

base::Result<RunMetrics> RunMetrics::listen(const std::string& address, bool quiet) {
  RunMetrics metrics;
  if (address.empty()) return metrics;
  const auto where = serve::address_from(address, "--metrics");
  if (!where) return where.error();
  auto server = serve::Server::listen(*where);
  if (!server) {
    say("no metrics: " + server.error().message);
    return metrics;
  }
  metrics.server_.emplace(*std::move(server));
  if (!quiet) say("metrics at http://" + metrics.server_->address().text() + "/metrics");
  return metrics;
}

void RunMetrics::choose_record(run::Options& options, const std::string& folder) {
  if (!server_) return;
  if (options.record_path.empty() && !folder.empty()) {
    options.record_path = folder + "/record.db";
    is_record_passing_ = true;
  }
  record_ = options.record_path;
}

void RunMetrics::start(std::int64_t run_id) {
  if (!server_) return;
  if (run_id == 0) return say("no metrics: nothing is recorded");
  collector_.emplace(record_, run_id);
  const auto started = server_->start(
      [this](const serve::Request& request) { return serve::metrics_alone(*collector_, request); });
  if (!started) say("no metrics: " + started.error().message);
}

}  // namespace ebb::cli
