// SPDX-License-Identifier: Apache-2.0
// How good advice is once a job goes on, over many generated jobs.
//
//   advice_report [SEEDS [FIRST]]     seeds FIRST (1) to FIRST + SEEDS - 1 (200)
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "replay/advice.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void print(const char* name, const AdviceCounts& counts) {
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
  std::map<std::string, AdviceCounts> families;
  AdviceCounts total;
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
  std::printf("\nagainst expandable_segments:True\n%-22s %5s %8s %8s %8s %11s %11s\n", "family",
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
