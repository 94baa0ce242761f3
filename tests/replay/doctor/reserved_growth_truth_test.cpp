// SPDX-License-Identifier: Apache-2.0
// What is said of one pass about growth, against what four passes really held.
#include "replay/doctor/reserved_growth.h"

#include <gtest/gtest.h>

#include "replay/long_job.h"

namespace ebb::replay {
namespace {

Setup default_setup(const Workload& work) {
  Setup setup;
  setup.settings = work.recording.settings;
  setup.profile = *cache::profile_of(work.recording.newest_minor);
  return setup;
}

TEST(ReservedGrowthOfRealJobs, IsToldOfOnePass) {
  for (const std::string& name : long_jobs()) {
    SCOPED_TRACE(name);
    const LongJob job = read_long_job(name);
    const auto growth = find_reserved_growth(job.pass1, default_setup(job.pass1));
    const LongJob::Setting& real = job.measured.at("default");
    std::printf("%-20s recorded %6.0f MiB, live %6.0f; after four passes %6.0f, live %6.0f; ",
                name.c_str(), static_cast<double>(real.peaks[0].reserved) / 1048576.0,
                static_cast<double>(real.peaks[0].allocated) / 1048576.0,
                static_cast<double>(real.peaks[3].reserved) / 1048576.0,
                static_cast<double>(real.peaks[3].allocated) / 1048576.0);
    if (growth) {
      std::printf("told: %.0f to %.0f MiB, %.0f without live, %s\n",
                  static_cast<double>(growth->from) / 1048576.0,
                  static_cast<double>(growth->to) / 1048576.0,
                  static_cast<double>(growth->without_live) / 1048576.0,
                  text_of(growth->growth).c_str());
      for (const GrowingSizes& sizes : growth->sizes)
        std::printf("    %s\n", text_of(sizes).c_str());
    } else {
      std::printf("told: no growth\n");
    }
  }
}

}  // namespace
}  // namespace ebb::replay
