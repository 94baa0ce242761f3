// SPDX-License-Identifier: Apache-2.0
// ebb run: real jobs with their memory managed.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "run/run_fixture.h"

namespace ebb::run {
namespace {

using base::kMiB;
using support::Finished;
using support::Subprocess;

TEST_F(EbbRun, PassesInputOutputAndStatusThrough) {
  Subprocess child(command({"--quiet"}, {"sh", "-c", "read x; echo got $x; echo no >&2; exit 4"}));
  ASSERT_EQ(write(child.input(), "this\n", 5), 5);
  EXPECT_EQ(child.read_rest_of_output(), "got this\n");
  EXPECT_EQ(child.read_rest_of_error(), "no\n");
  EXPECT_EQ(child.wait(), 4);
  EXPECT_EQ(last().summary.run.exit_code, 4);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::exit);
}

TEST_F(EbbRun, SaysInOneLineWhatItCameTo) {
  const Finished done = run({"--name", "brief"}, {"true"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.output, "");
  EXPECT_NE(done.error.find("ebb: run 1: "), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("(ebb report 1 --db " + db() + ")"), std::string::npos) << done.error;
  EXPECT_EQ(last().summary.run.name, "brief");
}

/// Everything in the files of a record.
std::string bytes_of(const std::string& db) {
  std::string all;
  for (const char* end : {"", "-wal"})
    if (std::filesystem::exists(db + end)) all += base::read_file(db + end).value_or("");
  return all;
}

/// A job with a secret of each kind in its own command line and in that of a child, which runs
/// until it has been seen.
std::vector<std::string> job_with_secrets(const std::string& stop) {
  const std::string child = "sh -c 'while [ ! -e " + stop +
                            " ]; do sleep 0.05; done' --password hunter2 'MY_TOKEN=my hunter2' "
                            "--password=\"'my'hunter2 x\" '{\\\"token\\\": \\\"my hunter2\\\"}' "
                            "ftp://me:my/hunter2@host/ http://me:hunter2@host/";
  return {"sh", "-c", child + " & wait", "job", "--api-key", "hunter2", "--secret=my hunter2"};
}

bool has_both(const record::RecordedRun& run) {
  std::size_t seen = 0;
  for (const record::ProcessHistory& process : run.processes)
    if (process.process.command.starts_with("sh")) ++seen;
  return seen >= 2;
}

TEST_F(EbbRun, SecretsAreNotWrittenOfTheCommandAndItsChildren) {
  const auto is_seen = [](const record::RecordedRun& run) {
    return std::any_of(run.processes.begin(), run.processes.end(),
                       [](const auto& one) { return one.process.command.ends_with("@host/"); });
  };
  const Finished done = run_until({"--interval", "50ms"}, job_with_secrets(stop_file()), is_seen);
  ASSERT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  EXPECT_EQ(recorded.summary.run.command[5], "***");
  EXPECT_EQ(recorded.summary.run.command[6], "--secret=***");
  bool child = false;
  for (const record::ProcessHistory& process : recorded.processes) {
    const std::string& line = process.process.command;
    child |= line.ends_with(
        R"( MY_TOKEN=*** --password=*** {\"token\": \"***\"} ftp://***@host/ http://***@host/)");
  }
  EXPECT_TRUE(child);
  EXPECT_EQ(bytes_of(db()).find("hunter2"), std::string::npos);
}

TEST_F(EbbRun, APrivateRunHasNamesOfProgramsOnly) {
  const Finished done =
      run_until({"--interval", "50ms", "--private"}, job_with_secrets(stop_file()), has_both);
  ASSERT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  EXPECT_EQ(recorded.summary.run.command, std::vector<std::string>{"sh"});
  for (const record::ProcessHistory& process : recorded.processes)
    EXPECT_EQ(process.process.command.find_first_of(" /"), std::string::npos)
        << process.process.command;
  const std::string all = bytes_of(db());
  for (const char* part : {"hunter2", "--password", "while", "MY_TOKEN"})
    EXPECT_EQ(all.find(part), std::string::npos) << part;
}

/// Readings of what is live in the only process, once it has announced a round and so has all of
/// its memory. The first one after that may still be the answer to a question from before.
std::vector<record::Extent> live_in(const record::RecordedRun& run) {
  std::vector<record::Extent> found;
  if (run.rounds.empty()) return found;
  for (const record::ProcessHistory& process : run.processes)
    for (const record::Reading& reading : process.readings)
      if (reading.live && reading.seconds >= run.rounds.front().seconds)
        found.push_back(*reading.live);
  if (!found.empty()) found.erase(found.begin());
  return found;
}

TEST_F(EbbRun, ReadsTheHeapFromInside) {
  const Finished done =
      run_until({"--interval", "50ms"}, {EBB_JOB, "600", "rounds", "until", stop_file()},
                [](const record::RecordedRun& run) { return live_in(run).size() > 3; });
  ASSERT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  ASSERT_EQ(recorded.processes.size(), 1U);
  EXPECT_TRUE(recorded.processes.front().process.agent);
  EXPECT_EQ(recorded.processes.front().process.allocator, "glibc");
  EXPECT_GT(live_in(recorded).size(), 3U);
  for (const record::Extent& live : live_in(recorded)) {
    EXPECT_GT(live.low, 15 * kMiB);
    EXPECT_LT(live.high, 60 * kMiB);
  }
}

std::uint64_t returned_in(const record::RecordedRun& run) {
  std::uint64_t returned = 0;
  for (const record::Action& action : run.actions)
    returned += action.cleanup.returned;
  return returned;
}

/// Why it cleaned up; but for the machine's pressure, which tests beside this one may cause.
std::vector<fact::Trigger> reasons_in(const record::RecordedRun& run) {
  std::vector<fact::Trigger> reasons;
  for (const record::Action& action : run.actions)
    if (action.cleanup.trigger != fact::Trigger::pressure)
      reasons.push_back(action.cleanup.trigger);
  return reasons;
}

TEST_F(EbbRun, ReturnsWhatTheAllocatorKeeps) {
  const Finished done =
      run_until({"--interval", "100ms"}, {EBB_JOB, "600", "retain", "until", stop_file()},
                [](const record::RecordedRun& run) { return returned_in(run) > 50 * kMiB; });
  EXPECT_EQ(done.status, 0);
  const record::RecordedRun recorded = last();
  ASSERT_FALSE(recorded.actions.empty()) << done.error;
  for (const fact::Trigger reason : reasons_in(recorded))
    EXPECT_EQ(reason, fact::Trigger::retained);
  EXPECT_GT(returned_in(recorded), 50 * kMiB);
}

TEST_F(EbbRun, CleansUpAtTheRoundsAJobAnnounces) {
  const Finished done =
      run_until({"--interval", "100ms"}, {EBB_JOB, "600", "retain", "rounds", "until", stop_file()},
                [](const record::RecordedRun& run) {
                  return run.rounds.size() >= 3 && !reasons_in(run).empty();
                });
  ASSERT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  EXPECT_GE(recorded.rounds.size(), 3U);
  ASSERT_FALSE(reasons_in(recorded).empty());
  EXPECT_EQ(reasons_in(recorded).front(), fact::Trigger::round);
}

bool has_pss(const record::ProcessHistory& process) {
  return std::any_of(process.readings.begin(), process.readings.end(),
                     [](const record::Reading& reading) { return reading.pss.has_value(); });
}

TEST_F(EbbRun, ManagesForkedWorkersToo) {
  const auto is_managed = [](const record::ProcessHistory& one) { return one.process.agent; };
  const Finished done = run_until(
      {"--interval", "100ms"}, {EBB_JOB, "600", "workers", "until", stop_file()},
      [&](const record::RecordedRun& run) {
        return std::count_if(run.processes.begin(), run.processes.end(), is_managed) == 4 &&
               std::any_of(run.processes.begin(), run.processes.end(), has_pss);
      });
  ASSERT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  ASSERT_EQ(recorded.processes.size(), 4U);
  for (const record::ProcessHistory& process : recorded.processes)
    EXPECT_TRUE(process.process.agent) << process.process.pid;
  EXPECT_TRUE(std::any_of(recorded.processes.begin(), recorded.processes.end(), has_pss))
      << "with several processes their shared pages are counted once";
}

TEST_F(EbbRun, StartsTheJobOnAnotherAllocator) {
  for (const char* allocator : {"jemalloc", "tcmalloc", "mimalloc"}) {
    const Finished done = run_until(
        {"--interval", "50ms", "--allocator", allocator}, {EBB_JOB, "600", "until", stop_file()},
        [&](const record::RecordedRun& run) {
          return !run.processes.empty() && run.processes.front().process.allocator == allocator;
        });
    ASSERT_EQ(done.status, 0) << done.error;
    ASSERT_EQ(last().processes.size(), 1U);
    EXPECT_EQ(last().processes.front().process.allocator, allocator);
  }
}

TEST_F(EbbRun, WarnsAndCleansAndStopsAJobThatStaysCritical) {
  const Finished done = run({"--interval", "50ms", "--warn", "0.01", "--critical", "0.02",
                             "--on-critical", "stop", "--grace", "60s"},
                            {EBB_JOB, "600"});
  EXPECT_EQ(done.status, -SIGTERM) << done.error;
  EXPECT_NE(done.error.find("critical, cleaning up"), std::string::npos) << done.error;
  EXPECT_NE(done.error.find("stopping the job"), std::string::npos) << done.error;
  const record::RecordedRun recorded = last();
  EXPECT_EQ(recorded.summary.run.ending, fact::RunEnd::stopped);
  EXPECT_TRUE(has_event(recorded, "critical"));
  EXPECT_TRUE(has_event(recorded, "stop"));
  ASSERT_FALSE(reasons_in(recorded).empty());
  EXPECT_EQ(reasons_in(recorded).front(), fact::Trigger::critical);
}

TEST_F(EbbRun, KillsAJobThatDoesNotStop) {
  const Words options = {"--interval", "50ms",          "--warn", "0.01",    "--critical",
                         "0.02",       "--on-critical", "stop",   "--grace", "200ms"};
  const Finished done = support::run(with_term_blocked(command(options, {"sleep", "600"})));
  EXPECT_EQ(done.status, -SIGKILL) << done.error;
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::stopped);
}

TEST_F(EbbRun, SaysWithoutRunningWhatItWouldDo) {
  const Finished done = support::run({EBB_PROGRAM, "run", "--db", db(), "--role", "trainer",
                                      "--dry-run", "--json", "--", "sh", "-c", "exit 9"});
  EXPECT_EQ(done.status, 0) << done.error;
  const auto json = base::parse_json(done.output);
  ASSERT_TRUE(json) << done.output;
  EXPECT_NE(json->find("agent")->as_string()->find("libebb-agent.so"), std::string::npos);
  EXPECT_EQ(json->find("variables")->as_array()->front().find("name")->as_string()->substr(0, 6),
            "MALLOC");
  EXPECT_FALSE(std::filesystem::exists(db())) << "nothing was run or recorded";
}

TEST_F(EbbRun, OnlyObservesWhereAsked) {
  const std::string job =
      "echo \"[$LD_PRELOAD]\"; while [ ! -e " + stop_file() + " ]; do sleep 0.05; done";
  const Finished done =
      run_until({"--observe", "--interval", "50ms"}, {"sh", "-c", job},
                [](const record::RecordedRun& run) { return !run.processes.empty(); });
  EXPECT_EQ(done.output, "[]\n");
  ASSERT_FALSE(last().processes.empty());
  EXPECT_FALSE(last().processes.front().process.agent);
}

TEST_F(EbbRun, IsOutOfTheWayWhereSwitchedOff) {
  const Finished done =
      run({}, {"sh", "-c", "echo \"[$LD_PRELOAD]\"; exit 3"}, {{"EBB_DISABLE", "1"}});
  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(done.output, "[]\n");
  EXPECT_EQ(done.error, "");
  EXPECT_FALSE(std::filesystem::exists(db()));
}

TEST_F(EbbRun, RefusesBadInputInOneLine) {
  const auto refused = [&](const std::vector<std::string>& words, const char* expected) {
    std::vector<std::string> all = {EBB_PROGRAM, "run"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished done = support::run(all);
    EXPECT_EQ(done.status, 2) << words.front();
    EXPECT_NE(done.error.find(expected), std::string::npos) << done.error;
    EXPECT_EQ(std::count(done.error.begin(), done.error.end(), '\n'), 1) << done.error;
  };
  refused({"--nvflare", "--observe", "--", "true"}, "expected one of them");
  refused({"--role", "sever", "--", "true"}, "server");
  refused({"--allocator", "malloc", "--", "true"}, "jemalloc");
  refused({"--on-critical", "explode", "--", "true"}, "clean or stop");
  refused({"--interval", "soon", "--", "true"}, "soon");
  refused({"--interval", "1ms", "--", "true"}, "10ms");
  refused({"--warn", "95", "--critical", "90", "--", "true"}, "95");
  refused({"--db", "x"}, "command");
  refused({"--name", "last", "--", "true"}, "--name 'last': expected a name");
  refused({"--name", "42", "--", "true"}, "--name '42': expected a name");
}

TEST_F(EbbRun, WorksWithAJobThatUsesTheLibraryItself) {
  const Finished done = run(
      {"--quiet", "--interval", "50ms", "--warn", "0.01", "--critical", "0.02"}, {EBB_KEEPER_JOB});
  EXPECT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  std::vector<std::uint64_t> rounds;
  for (const record::Round& round : recorded.rounds)
    rounds.push_back(round.number);
  EXPECT_EQ(rounds, (std::vector<std::uint64_t>{0, 1, 2, 3}));
  std::uint64_t by_job = 0;
  for (const record::Action& action : recorded.actions)
    if (action.cleanup.trigger == fact::Trigger::job) by_job += action.count;
  EXPECT_EQ(done.output, "1 1 " + std::to_string(by_job) + "\n")
      << "supervised; the supervisor's cleanup called its hook; all of its own are on record";
  EXPECT_GE(by_job, 2U) << "at most one of three met the supervisor's";
}

TEST_F(EbbRun, AJobThatIsOverInAMomentIsHeard) {
  for (int i = 0; i < 20; ++i) {
    const Finished done = run({"--quiet"}, {EBB_BRIEF_JOB});
    ASSERT_EQ(done.status, 0) << done.error;
    const record::RecordedRun recorded = last();
    std::vector<std::uint64_t> rounds;
    std::set<std::int32_t> processes;
    for (const record::Round& round : recorded.rounds) {
      rounds.push_back(round.number);
      processes.insert(round.process.pid);
    }
    std::sort(rounds.begin(), rounds.end());  // two connections: either may be read first
    EXPECT_EQ(rounds, (std::vector<std::uint64_t>{0, 1, 2})) << "run " << i;
    EXPECT_EQ(processes.size(), 2U) << "run " << i;
  }
}

TEST_F(EbbRun, TriesACommandUnderEachAllocator) {
  const Finished done = support::run(
      {EBB_PROGRAM, "tune", "--json", "--interval", "20ms", "--", "sh", "-c", "sleep 0.2"});
  ASSERT_EQ(done.status, 0) << done.error;
  const auto json = base::parse_json(done.output);
  ASSERT_TRUE(json) << done.output;
  const auto& rows = *json->find("rows")->as_array();
  ASSERT_EQ(rows.size(), 7U);
  for (const base::Json& row : rows) {
    EXPECT_GT(*row.find("peak_rss_bytes")->as_unsigned(), 0U);
    EXPECT_GT(*row.find("wall_seconds")->as_double(), 0.1);
  }
  EXPECT_NE(json->find("run")->as_string()->find("sh -c sleep 0.2"), std::string::npos);
  const Finished failed = support::run({EBB_PROGRAM, "tune", "--", "sh", "-c", "exit 3"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.error, "ebb: the command ended with status 3 (as it is)\n");
  EXPECT_EQ(support::run({EBB_PROGRAM, "tune", "--", "no-such-command"}).status, 2);
}

}  // namespace
}  // namespace ebb::run
