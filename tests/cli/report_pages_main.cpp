// SPDX-License-Identifier: Apache-2.0
// report_pages FOLDER: records runs there and has the program make a page of each, and of a
// recorded job one of its diagnosis and one of what it is tuned to, for the browser.
#include <cstdlib>

#include "story/job.h"

namespace {

using namespace ebb::story;

void record_runs(const std::string& path) {
  Job job(1800);
  job.run().name = "report";
  job.run().limit = 4096 * ebb::record::kMiB;
  const auto key = job.add(4242, "python3 train.py",
                           {rounds(600, 900, 60, 0.25),
                            rounds(500, 850, 60, 0.25),
                            rounds(40, 350, 60),
                            level(60),
                            {},
                            level(700)});
  job.add(4243, "</script><script>window.broken = 1</script>",
          {level(620), level(200), level(30), {}, {}, level(180)}, 5);
  job.announce_rounds(key, 60);
  job.clean(key, 60, growing(600, 0.25), level(380));
  job.add_place(rounds(2000, 700, 60, 0.35), 4096);
  for (ebb::record::PlaceSample& place : job.batch().places) {
    place.pressure_some = place.seconds / 100;
    place.gpu_used = 9000 * ebb::record::kMiB;
    place.gpu_total = 24'000 * ebb::record::kMiB;
  }
  job.batch().events.push_back({1200, "warn", "85 % of the limit is used", key});
  job.write(path);
  Job empty(1);
  empty.run().name = "empty";
  empty.write(path);
}

/// Whether the program made a page by these words.
bool make_page(const std::string& words, const std::string& page) {
  const std::string command =
      std::string("'") + EBB_PROGRAM + "' " + words + " --html '" + page + "' > /dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string folder = words[1];
  record_runs(folder + "/runs.db");
  for (const std::string name : {"report", "empty"}) {
    if (!make_page("report " + name + " --db '" + folder + "/runs.db'",
                   folder + "/" + name + ".html"))
      return 1;
  }
  const std::string lines = EBB_TEST_DATA "/torch-2.11/frames/prefetch_streams.default.pickle.gz";
  if (!make_page("doctor '" + lines + "'", folder + "/doctor.html")) return 1;
  const std::string job = EBB_TEST_DATA "/torch-2.11/runs/prefetch_streams.default.pickle.gz";
  return make_page("tune '" + job + "'", folder + "/tuning.html") ? 0 : 1;
}
