// SPDX-License-Identifier: Apache-2.0
// How good advice is once a job goes on: each generated job is tuned on what was recorded of it,
// and the answer is replayed over all that it did.
//
//   advice_report [SEEDS [FIRST]]     seeds FIRST (1) to FIRST + SEEDS - 1 (200)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "replay/forecast.h"
#include "replay/job_generator.h"
#include "replay/parallel.h"
#include "replay/tune/tuner.h"

namespace ebb::replay {
namespace {

const std::string kExpandable = "expandable_segments:True";

/// Peaks on the whole job.
struct Advice {
  std::string family;
  std::string conf;
  std::size_t steps = 0;  ///< recorded
  std::uint64_t live = 0;
  std::uint64_t by_default = 0;
  std::uint64_t expandable = 0;
  std::uint64_t baseline = 0;  ///< of the best of the plain settings
  std::uint64_t followed = 0;  ///< of what was answered
};

std::uint64_t peak_of(const Workload& work, const std::string& conf) {
  const auto row = forecast(work, conf, {}, false);
  if (!row) {
    std::fprintf(stderr, "%s: %s\n", conf.c_str(), row.error().message.c_str());
    std::exit(1);
  }
  return row->outcome.peak_reserved;
}

Advice advice_for(std::uint64_t seed) {
  const GeneratedJob job = generate_job(seed);
  Advice advice;
  advice.family = job.family;
  const auto recorded = static_cast<std::uint32_t>(job.recorded.operations.size());
  const auto later = std::lower_bound(job.steps.begin(), job.steps.end(), recorded);
  advice.steps = static_cast<std::size_t>(later - job.steps.begin());
  advice.live = forecast(job.whole, kExpandable, {}, false)->outcome.peak_allocated;
  advice.by_default = peak_of(job.whole, "");
  advice.expandable = peak_of(job.whole, kExpandable);
  advice.baseline = std::min(advice.by_default, advice.expandable);
  for (const char* size : {"12", "16", "32"}) {
    const std::string conf = kExpandable + ",large_segment_size_mb:" + size;
    advice.baseline = std::min(advice.baseline, peak_of(job.whole, conf));
  }
  const auto result = tune({&job.recorded}, {});
  if (!result) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed),
                 result.error().message.c_str());
    std::exit(1);
  }
  advice.conf = conf_of(result->knobs);
  advice.followed = peak_of(job.whole, advice.conf);
  return advice;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

struct Counts {
  int jobs = 0;
  int worse_1 = 0;
  int worse_5 = 0;
  int better_2 = 0;
  int could_2 = 0;  ///< where a baseline is better by 2 %
  double worst = 0;

  void add(const Advice& advice) {
    const double ratio = share(advice.followed, advice.expandable);
    ++jobs;
    worse_1 += ratio > 1.01 ? 1 : 0;
    worse_5 += ratio > 1.05 ? 1 : 0;
    better_2 += ratio <= 0.98 ? 1 : 0;
    could_2 += share(advice.baseline, advice.expandable) <= 0.98 ? 1 : 0;
    worst = std::max(worst, ratio);
  }
};

void print(const char* name, const Counts& counts) {
  std::printf("%-22s %5d %8d %8d %8.3f %11d %11d\n", name, counts.jobs, counts.worse_1,
              counts.worse_5, counts.worst, counts.better_2, counts.could_2);
}

int report(std::uint64_t first, std::size_t seeds) {
  std::vector<Advice> all(seeds);
  std::size_t done = 0;
  base::Mutex mutex;
  for_all(seeds, [&](std::size_t i) {
    all[i] = advice_for(first + i);
    const base::Lock lock(mutex);
    if (++done % 10 == 0) std::fprintf(stderr, "\r%zu of %zu jobs", done, seeds);
  });
  std::fprintf(stderr, "\n");
  std::printf("%6s %-22s %6s %9s %8s %10s %8s %8s  %s\n", "seed", "family", "steps", "live MiB",
              "default", "expandable", "baseline", "advice", "conf");
  std::map<std::string, Counts> families;
  Counts total;
  for (std::size_t i = 0; i < seeds; ++i) {
    const Advice& advice = all[i];
    std::printf("%6llu %-22s %6zu %9.1f %8.3f %10.3f %8.3f %8.3f  %s\n",
                static_cast<unsigned long long>(first + i), advice.family.c_str(), advice.steps,
                static_cast<double>(advice.live) / static_cast<double>(base::kMiB),
                share(advice.by_default, advice.live), share(advice.expandable, advice.live),
                share(advice.baseline, advice.live), share(advice.followed, advice.live),
                advice.conf.c_str());
    families[advice.family].add(advice);
    total.add(advice);
  }
  std::printf("\nagainst %s\n%-22s %5s %8s %8s %8s %11s %11s\n", kExpandable.c_str(), "family",
              "jobs", "> +1 %", "> +5 %", "worst", "<= -2 %", "a baseline");
  for (const auto& [name, counts] : families) {
    print(name.c_str(), counts);
  }
  print("all", total);
  return 0;
}

}  // namespace
}  // namespace ebb::replay

int main(int argc, char** argv) {
  const long seeds = argc > 1 ? std::atol(argv[1]) : 200;
  const long first = argc > 2 ? std::atol(argv[2]) : 1;
  if (seeds < 1 || first < 0) {
    std::fprintf(stderr, "usage: advice_report [SEEDS [FIRST]]\n");
    return 2;
  }
  return ebb::replay::report(static_cast<std::uint64_t>(first), static_cast<std::size_t>(seeds));
}
