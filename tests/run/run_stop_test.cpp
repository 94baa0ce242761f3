// SPDX-License-Identifier: Apache-2.0
// ebb run --on-critical stop: nothing of the job is left, whoever ends first.
#include "run/run_fixture.h"
#include "sense/process.h"

namespace ebb::run {
namespace {

using support::Finished;

class EbbRunThatStops : public EbbRun {
 protected:
  EbbRunThatStops() { std::filesystem::create_directory(children()); }

  std::string children() const { return folder_ / "children"; }

  /// Stopped as soon as possible; TERM is blocked when the job starts. `grace` is how long a job
  /// has that ends by itself.
  Finished stopped(const char* mode, const char* grace, const Words& more = {}) const {
    Words options = {"--interval", "50ms",          "--warn", "0.01",    "--critical",
                     "0.02",       "--on-critical", "stop",   "--grace", grace};
    options.insert(options.end(), more.begin(), more.end());
    return support::run(with_term_blocked(
        command(options, {"/usr/bin/python3", EBB_STARTS_OTHERS_PY, mode, children()})));
  }

  std::size_t count_children() const {
    const std::filesystem::directory_iterator all(children());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  void expect_that_none_is_left() const {
    for (const auto& entry : std::filesystem::directory_iterator(children())) {
      const std::string pid = entry.path().filename().string();
      EXPECT_FALSE(sense::read_process(std::stoi(pid))) << pid << " goes on";
    }
  }
};

TEST_F(EbbRunThatStops, AChildThatOutlivesTheCommandIsStoppedToo) {
  const Finished done = stopped("one", "5s");
  EXPECT_EQ(done.status, -SIGTERM) << done.error;
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::stopped);
  EXPECT_EQ(count_children(), 1U);
  expect_that_none_is_left();
}

TEST_F(EbbRunThatStops, ChildrenThatAreBornMeanwhileAreStoppedToo) {
  // Without agents nobody cleans up first, and most are born after TERM.
  const Finished done = stopped("many", "1s", {"--observe"});
  EXPECT_EQ(done.status, -SIGKILL) << done.error;
  expect_that_none_is_left();
}

}  // namespace
}  // namespace ebb::run
