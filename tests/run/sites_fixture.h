// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "run/run_fixture.h"

namespace ebb::run {

using base::Json;
using support::Finished;

/// So many looks at the tables are enough for a trend; after a few of them the rest is known.
inline constexpr std::size_t kEnoughLooks = 58;

class Sites : public EbbRun {
 protected:
  /// At the tables of the process that was looked at most often.
  static std::size_t looks_in(const record::RecordedRun& run) {
    std::map<record::ProcessKey, std::size_t> counts;
    std::size_t most = 0;
    for (const record::Sampling& sampling : run.samplings)
      most = std::max(most, ++counts[sampling.process]);
    return most;
  }

  /// Runs a job until `is_so` of its record so far, and then to its end. With --sites, unless
  /// `options` begin with another form of it.
  template <class Condition>
  void run_job_until(const Words& options, Words job, const Condition& is_so) const {
    Words with_sites = {"--interval", "100ms"};
    if (options.empty() || !options.front().starts_with("--sites"))
      with_sites.emplace_back("--sites");
    with_sites.insert(with_sites.end(), options.begin(), options.end());
    job.push_back(stop_file());
    const Finished done = run_until(with_sites, job, is_so);
    EXPECT_EQ(done.status, 0) << done.error;
  }

  /// The report of a job that was looked at so often.
  Json report_of(const Words& options, const Words& job, std::size_t looks = kEnoughLooks) const {
    run_job_until(options, job,
                  [&](const record::RecordedRun& run) { return looks_in(run) >= looks; });
    return report();
  }

  /// The report of a job that leaks, at the moment at which it first says where, while it runs.
  Json report_of_leak(const Words& options, const Words& job) const {
    Json said;
    std::size_t next = 10;
    run_job_until(options, job, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next) return false;
      next += 10;
      said = report();
      return !grower(said).empty();
    });
    return said;
  }

  Json report() const {
    const Finished report = support::run({EBB_PROGRAM, "report", "--json", "--db", db()});
    EXPECT_EQ(report.status, 0) << report.error;
    auto json = base::parse_json(report.output);
    EXPECT_TRUE(json) << report.output;
    return json.value_or({});
  }

  static std::string text(const Json& json, const char* key) {
    const Json* found = json.find(key);
    const std::string* value = found != nullptr ? found->as_string() : nullptr;
    return value != nullptr ? *value : std::string();
  }

  /// Where the report says that memory grows most; empty where it names no such place.
  static std::string grower(const Json& report) {
    const Json* sites = report.find("sites");
    if (sites == nullptr || sites->as_array() == nullptr || sites->as_array()->empty()) return {};
    const Json& first = sites->as_array()->front();
    const Json* growth = first.find("growth_bytes_per_second");
    return growth != nullptr && growth->as_double() ? text(first, "place") : std::string();
  }
};

}  // namespace ebb::run
