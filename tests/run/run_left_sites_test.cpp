// SPDX-License-Identifier: Apache-2.0
// ebb run --sites: tables of jobs that were killed together with their supervisor.
#include <signal.h>

#include <cmath>
#include <filesystem>

#include "run/kill_together.h"
#include "run/sites_fixture.h"
#include "support/process_state.h"

namespace ebb::run {
namespace {

class SitesThatWereLeft : public Sites {
 protected:
  std::size_t folders() const {
    const std::filesystem::directory_iterator all(runtime_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  /// A job that fills its memory at once, killed with its supervisor, whose next look at the tables
  /// would have come later.
  void kill_a_burst() const {
    support::Subprocess child(
        command({"--sites", "--interval", "10m"}, {EBB_LEAKS_C, "4", stop_file()}));
    pid_t job = 0;
    wait_until([&] {
      const record::RecordedRun run = so_far();
      if (run.processes.empty()) return false;
      job = run.processes.front().process.pid;
      return sense::read_rss_fast(job).value_or(0) > 45U << 20;
    });
    kill_together(child, job);
  }

  support::TemporaryDirectory runtime_;
  support::ScopedVariable variable_{"XDG_RUNTIME_DIR", runtime_.path()};
};

TEST_F(SitesThatWereLeft, AreFoldedIntoTheRecordByTheNextCommand) {
  const std::vector<Words> commands = {{"report"}, {"runs"}, {"doctor", "last"}, {"run"}};
  for (const Words& next : commands) {
    kill_a_burst();
    EXPECT_EQ(folders(), 1U);
    const std::int64_t id = last().summary.run.id;
    Words asked = {EBB_PROGRAM};
    asked.insert(asked.end(), next.begin(), next.end());
    asked.insert(asked.end(), {"--db", db()});
    if (next.front() == "run") asked.insert(asked.end(), {"--quiet", "--", "true"});
    EXPECT_EQ(support::run(asked).status, 0);
    EXPECT_EQ(folders(), 0U) << next.front();
    const Finished said =
        support::run({EBB_PROGRAM, "report", std::to_string(id), "--json", "--db", db()});
    const Json report = base::parse_json(said.output).value_or({});
    ASSERT_NE(report.find("sites"), nullptr) << said.output;
    ASSERT_NE(report.find("sites")->as_array(), nullptr) << said.output;
    ASSERT_FALSE(report.find("sites")->as_array()->empty()) << next.front();
    const Json& first = report.find("sites")->as_array()->front();
    EXPECT_EQ(text(first, "place").find("leaks.c:36 fill_cache"), 0U) << text(first, "place");
    // A busy process is sampled seldom: the error is that of as many samples as there are.
    constexpr double kBurst = 46.9 * (1 << 20);
    const double samples = first.find("samples")->as_double().value_or(0);
    ASSERT_GE(samples, 1);
    EXPECT_NEAR(first.find("bytes")->as_double().value_or(0), kBurst,
                5 * kBurst / std::sqrt(samples));
  }
}

TEST_F(SitesThatWereLeft, GoOnWhereTheRecordOfALeakEnds) {
  support::Subprocess child(
      command({"--sites", "--interval", "100ms"}, {EBB_LEAKS_C, "2", stop_file()}));
  // What a verdict says of it a moment later is up to how busy the machine is.
  const auto says = [&] {
    const Json said = report();
    const Json* sites = said.find("sites");
    return sites != nullptr && sites->as_array() != nullptr && !sites->as_array()->empty() &&
           text(sites->as_array()->front(), "place").find("leaks.c:27 parse_input") == 0;
  };
  std::size_t next = 40;
  wait_until([&] {
    if (looks_in(so_far()) < next) return false;
    next += 10;
    return says();
  });
  kill_together(child, so_far().processes.front().process.pid);
  const std::size_t looks = last().samplings.size();
  EXPECT_TRUE(says());
  const Finished doctor = support::run({EBB_PROGRAM, "doctor", "last", "--db", db()});
  if (doctor.output.find("leak (confidence") != std::string::npos) {
    EXPECT_NE(doctor.output.find("/min at leaks.c:27 parse_input, "), std::string::npos)
        << doctor.output;
  }
  const record::RecordedRun run = last();
  EXPECT_EQ(run.samplings.size(), looks + 1) << "as it stood when it was killed";
  ASSERT_GE(run.samplings.size(), 2U);
  const record::Sampling& before = run.samplings[run.samplings.size() - 2];
  EXPECT_GE(run.samplings.back().bytes, before.bytes);
  EXPECT_GT(run.samplings.back().seconds, before.seconds);
  EXPECT_GE(run.summary.seconds, run.samplings.back().seconds);
  EXPECT_EQ(run.processes.size(), 1U);
  EXPECT_EQ(folders(), 0U);
}

TEST_F(SitesThatWereLeft, OfAJobThatGoesOnStay) {
  support::Subprocess child(
      command({"--sites", "--interval", "10m"}, {EBB_LEAKS_C, "4", stop_file()}));
  wait_until([&] { return !so_far().processes.empty() && folders() == 1; });
  const pid_t job = so_far().processes.front().process.pid;
  wait_until([&] { return sense::read_rss_fast(job).value_or(0) > 45U << 20; });
  ::kill(child.pid(), SIGKILL);
  child.wait();
  static_cast<void>(report());
  EXPECT_EQ(folders(), 1U) << "the job still writes to its table";
  folder_.write("stop", "");
  wait_until([&] {
    const auto reading = sense::read_process(job);
    return !reading || reading->virtual_size == 0;
  });
  static_cast<void>(report());
  EXPECT_EQ(folders(), 0U);
}

TEST_F(SitesThatWereLeft, AreNamedOnlyByFilesThatAreAsTheyWere) {
  const std::string program = folder_ / "leaks";
  std::filesystem::copy_file(EBB_LEAKS_C, program);
  support::Subprocess child(command({"--sites", "--interval", "10m"}, {program, "4", stop_file()}));
  pid_t job = 0;
  wait_until([&] {
    const record::RecordedRun run = so_far();
    if (run.processes.empty()) return false;
    job = run.processes.front().process.pid;
    return sense::read_rss_fast(job).value_or(0) > 45U << 20;
  });
  kill_together(child, job);
  // Built anew: what lies at the same place now is something else.
  std::filesystem::remove(program);
  std::filesystem::copy_file(EBB_LEAKS_C, program);
  const Json said = report();
  ASSERT_FALSE(said.find("sites")->as_array()->empty());
  EXPECT_EQ(text(said.find("sites")->as_array()->front(), "place"), "leaks, no symbols");
}

TEST_F(SitesThatWereLeft, AreOfNoUseWithoutTheirRecord) {
  kill_a_burst();
  EXPECT_EQ(support::run({EBB_PROGRAM, "runs", "rm", "last", "--db", db()}).status, 0);
  EXPECT_EQ(support::run({EBB_PROGRAM, "runs", "--db", db()}).status, 0);
  EXPECT_EQ(folders(), 0U);
}

}  // namespace
}  // namespace ebb::run
