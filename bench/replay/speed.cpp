// SPDX-License-Identifier: Apache-2.0
// Events per second of a replay on one core: recorded events (allocations, frees, completions) over
// the time to run all of them through the allocator. Without a file, recorded runs of the tests.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.h"
#include "replay/job.h"

namespace ebb {
namespace {

using Clock = std::chrono::steady_clock;

/// The median of several runs, in seconds.
double seconds_of(const replay::Workload& work, const replay::Setup& setup, int rounds) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    const replay::Outcome outcome = replay::replay(work, setup);
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    if (outcome.requests == 0) std::abort();
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds / 2)];
}

int run(const std::vector<std::string>& files, int rounds) {
  std::printf("%-32s %-26s %9s %12s %8s\n", "run", "setting", "events", "ns per event", "M/s");
  for (const std::string& file : files) {
    const auto jobs = replay::read_jobs(file, std::nullopt, std::nullopt);
    if (!jobs) {
      std::fprintf(stderr, "%s\n", jobs.error().message.c_str());
      return 2;
    }
    const replay::Job& job = jobs->front();
    const std::size_t events = job.snapshot->traces[static_cast<std::size_t>(job.device)].size();
    for (const char* conf : {"", "expandable_segments:True"}) {
      replay::Setup setup;
      setup.profile = replay::profile_for(job.workload, {});
      setup.settings = *cache::parse_settings(conf, setup.profile);
      const double seconds = seconds_of(job.workload, setup, rounds);
      const std::string name = file.substr(file.rfind('/') + 1);
      std::printf("%-32s %-26s %9zu %12.1f %8.1f\n", name.c_str(),
                  *conf == '\0' ? "(default)" : conf, events,
                  1e9 * seconds / static_cast<double>(events),
                  static_cast<double>(events) / seconds / 1e6);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace ebb

int main(int argc, char** argv) {
  std::vector<std::string> files;
  int rounds = 15;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.empty()) {
    for (const char* name :
         {"fl_resnet18.capgc60", "gpt2_varlen.captight", "llama_ckpt.captight"}) {
      files.push_back(
          ebb::base::format_text("%s/torch-2.11/runs/%s.pickle.gz", EBB_TEST_DATA, name));
    }
  }
  return ebb::run(files, rounds);
}
