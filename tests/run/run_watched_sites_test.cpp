// SPDX-License-Identifier: Apache-2.0
// ebb watch on a process of ebb run --sites: its sites, live.
#include "run/sites_fixture.h"
#include "support/terminal.h"

namespace ebb::run {
namespace {

using support::Subprocess;

constexpr const char* kPlace = "leaks.c:27 parse_input";

class WatchedSites : public Sites {
 protected:
  /// The number of the job's process, once its allocations are sampled.
  std::string job_of_run() const {
    wait_until([&] { return !so_far().samplings.empty(); });
    return std::to_string(so_far().processes.front().process.pid);
  }

  static Words watching(const std::string& pid, const Words& options) {
    Words words = {EBB_PROGRAM, "watch", pid, "--interval", "50ms"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  void end(Subprocess& job) const {
    folder_.write("stop", "");
    EXPECT_EQ(job.wait(), 0);
  }
};

TEST_F(WatchedSites, AreTheLargestPlacesAndWhatTheyGrewBy) {
  Subprocess job(command({"--sites", "--interval", "100ms"}, {EBB_LEAKS_C, "2", stop_file()}));
  Subprocess watch(watching(job_of_run(), {"--json"}));
  Json first;
  wait_until([&] {
    const auto sample = base::parse_json(watch.read_line());
    if (!sample || sample->find("sites") == nullptr || sample->find("sites")->is_null() ||
        sample->find("sites")->as_array()->empty())
      return !sample.has_value();
    first = sample->find("sites")->as_array()->front();
    return first.find("growth_bytes")->as_double().value_or(0) > (8 << 20);
  });
  EXPECT_EQ(text(first, "place"), kPlace);
  EXPECT_GE(first.find("bytes")->as_double().value_or(0),
            first.find("growth_bytes")->as_double().value_or(0));
  end(job);
}

TEST_F(WatchedSites, StandInEachLineAndOnTheScreen) {
  Subprocess job(command({"--sites", "--interval", "100ms"}, {EBB_LEAKS_C, "2", stop_file()}));
  const std::string pid = job_of_run();
  Subprocess lines(watching(pid, {}));
  const std::string held = std::string(" held by ") + kPlace;
  wait_until([&] {
    const std::string line = lines.read_line();
    return line.empty() || line.ends_with(held);
  });
  support::Terminal screen(watching(pid, {}));
  EXPECT_TRUE(screen.shows(kPlace));
  end(job);
}

TEST_F(WatchedSites, AreNoneWhereNobodySamples) {
  Subprocess job(command({"--no-sites", "--interval", "100ms"}, {EBB_LEAKS_C, "2", stop_file()}));
  wait_until([&] { return !so_far().processes.empty(); });
  const std::string pid = std::to_string(so_far().processes.front().process.pid);
  Subprocess watch(watching(pid, {"--json"}));
  const auto sample = base::parse_json(watch.read_line());
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->find("sites")->is_null());
  end(job);
}

}  // namespace
}  // namespace ebb::run
