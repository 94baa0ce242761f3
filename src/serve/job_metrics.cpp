// SPDX-License-Identifier: Apache-2.0
#include "serve/job_metrics.h"

namespace ebb::serve {

base::Result<JobMetrics> JobMetrics::listen(const std::string& address, Say say, bool tells) {
  JobMetrics metrics(std::move(say));
  if (address.empty()) return metrics;
  auto server = MetricsServer::listen(address);
  if (!server && server.error().code == base::Code::bad_input) return server.error();
  if (!server) {
    metrics.say_("no metrics: " + server.error().message);
    return metrics;
  }
  metrics.server_.emplace(*std::move(server));
  if (tells) metrics.say_("metrics at " + metrics.server_->url());
  return metrics;
}

std::string JobMetrics::choose_record(const std::string& kept, const std::string& folder) {
  record_ = kept;
  if (!server_) return record_;
  is_record_passing_ = kept.empty() && !folder.empty();
  if (is_record_passing_) record_ = folder + "/record.db";
  return record_;
}

void JobMetrics::start(std::int64_t run_id) {
  if (!server_) return;
  const auto started = run_id != 0 ? server_->start(record_, run_id)
                                   : base::error(base::Code::unavailable, "nothing is recorded");
  if (started) return;
  say_("no metrics: " + started.error().message);
  server_.reset();
}

}  // namespace ebb::serve
