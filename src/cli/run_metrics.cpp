// SPDX-License-Identifier: Apache-2.0
#include "cli/run_metrics.h"

#include "cli/verb.h"

namespace ebb::cli {

base::Result<RunMetrics> RunMetrics::listen(const std::string& address, bool quiet) {
  RunMetrics metrics;
  if (address.empty()) return metrics;
  auto server = serve::MetricsServer::listen(address);
  if (!server && server.error().code == base::Code::bad_input) return server.error();
  if (!server) {
    say("no metrics: " + server.error().message);
    return metrics;
  }
  metrics.server_.emplace(*std::move(server));
  if (!quiet) say("metrics at " + metrics.server_->url());
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
  const auto started = run_id != 0 ? server_->start(record_, run_id)
                                   : base::error(base::Code::unavailable, "nothing is recorded");
  if (started) return;
  say_now("no metrics: " + started.error().message);
  server_.reset();
}

}  // namespace ebb::cli
