// SPDX-License-Identifier: Apache-2.0
#include "replay/advice.h"

#include <algorithm>
#include <stdexcept>

#include "replay/forecast.h"
#include "replay/job_generator.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

const std::string kExpandable = "expandable_segments:True";

Outcome outcome_of(const Workload& work, const std::string& conf) {
  auto row = forecast(work, conf, {}, false);
  if (!row) throw std::runtime_error(conf + ": " + row.error().message);
  return std::move(row->outcome);
}

}  // namespace

Advice advice_for(std::uint64_t seed) {
  const GeneratedJob job = generate_job(seed);
  Advice advice;
  advice.family = job.family;
  const auto recorded = static_cast<std::uint32_t>(job.recorded.operations.size());
  const auto later = std::lower_bound(job.steps.begin(), job.steps.end(), recorded);
  advice.steps = static_cast<std::size_t>(later - job.steps.begin());
  const Outcome expandable = outcome_of(job.whole, kExpandable);
  advice.live = expandable.peak_allocated;
  advice.expandable = expandable.peak_reserved;
  advice.by_default = outcome_of(job.whole, "").peak_reserved;
  advice.baseline = std::min(advice.by_default, advice.expandable);
  for (const char* size : {"12", "16", "32"}) {
    const std::string conf = kExpandable + ",large_segment_size_mb:" + size;
    advice.baseline = std::min(advice.baseline, outcome_of(job.whole, conf).peak_reserved);
  }
  TuneOptions options;
  options.foretell = false;
  const auto result = tune({&job.recorded}, options);
  if (!result) throw std::runtime_error(result.error().message);
  advice.conf = conf_of(result->knobs);
  advice.followed = outcome_of(job.whole, advice.conf).peak_reserved;
  return advice;
}

void AdviceCounts::add(const Advice& advice) {
  const double ratio = advice.ratio();
  ++jobs;
  worse_1 += ratio > 1.01 ? 1 : 0;
  worse_5 += ratio > 1.05 ? 1 : 0;
  better_2 += ratio <= 0.98 ? 1 : 0;
  could_2 +=
      static_cast<double>(advice.baseline) <= 0.98 * static_cast<double>(advice.expandable) ? 1 : 0;
  worst = std::max(worst, ratio);
}

}  // namespace ebb::replay
