// SPDX-License-Identifier: Apache-2.0
// ebb run --sites: real programs that leak in one of three functions, and some that do not leak.
#include <signal.h>

#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "heap/installed.h"
#include "run/run_fixture.h"
#include "sense/process.h"
#include "support/process_state.h"

namespace ebb::run {
namespace {

using base::Json;
using support::Finished;

/// So many looks at the tables are enough for a trend; after a few of them the rest is known.
constexpr std::size_t kEnoughLooks = 58;

class Sites : public EbbRun {
 protected:
  /// At the tables of the process that was looked at most often.
  static std::size_t looks_in(const record::RecordedRun& run) {
    std::map<record::ProcessKey, std::size_t> counts;
    std::size_t most = 0;
    for (const record::Sampling& sampling : run.samplings)
      most = std::max(most, ++counts[sampling.process]);
    return most;
  }

  /// Runs a job until `is_so` of its record so far, and then to its end.
  template <class Condition>
  void run_job_until(const Words& options, Words job, const Condition& is_so) const {
    Words with_sites = {"--sites", "--interval", "100ms"};
    with_sites.insert(with_sites.end(), options.begin(), options.end());
    job.push_back(stop_file());
    const Finished done = run_until(with_sites, job, is_so);
    EXPECT_EQ(done.status, 0) << done.error;
  }

  /// The report of a job that was looked at so often.
  Json report_of(const Words& options, const Words& job, std::size_t looks = kEnoughLooks) const {
    run_job_until(options, job,
                  [&](const record::RecordedRun& run) { return looks_in(run) >= looks; });
    return report();
  }

  /// The report of a job that leaks, at the moment at which it first says where, while it runs.
  Json report_of_leak(const Words& options, const Words& job) const {
    Json said;
    std::size_t next = 10;
    run_job_until(options, job, [&](const record::RecordedRun& run) {
      if (looks_in(run) < next) return false;
      next += 10;
      said = report();
      return !grower(said).empty();
    });
    return said;
  }

  Json report() const {
    const Finished report = support::run({EBB_PROGRAM, "report", "--json", "--db", db()});
    EXPECT_EQ(report.status, 0) << report.error;
    auto json = base::parse_json(report.output);
    EXPECT_TRUE(json) << report.output;
    return json.value_or({});
  }

  static std::string text(const Json& json, const char* key) {
    const Json* found = json.find(key);
    const std::string* value = found != nullptr ? found->as_string() : nullptr;
    return value != nullptr ? *value : std::string();
  }

  /// Where the report says that memory grows most; empty where it names no such place.
  static std::string grower(const Json& report) {
    const Json* sites = report.find("sites");
    if (sites == nullptr || sites->as_array() == nullptr || sites->as_array()->empty()) return {};
    const Json& first = sites->as_array()->front();
    const Json* growth = first.find("growth_bytes_per_second");
    return growth != nullptr && growth->as_double() ? text(first, "place") : std::string();
  }
};

struct Leak {
  const char* which;
  const char* place;
};

TEST_F(Sites, NameTheFunctionAndTheLineOfALeakInC) {
  for (const Leak& leak : {Leak{"1", "leaks.c:23 read_input"}, Leak{"2", "leaks.c:27 parse_input"},
                           Leak{"3", "leaks.c:31 write_output"}}) {
    const Json report = report_of_leak({}, {EBB_LEAKS_C, leak.which});
    EXPECT_EQ(grower(report), leak.place);
  }
}

TEST_F(Sites, AreNamedInTheVerdictOfALeak) {
  const std::string place = "/min at leaks.c:27 parse_input, ";
  Json said;
  std::size_t next = 40;
  run_job_until({}, {EBB_LEAKS_C, "2"}, [&](const record::RecordedRun& run) {
    if (looks_in(run) < next) return false;
    next += 10;
    said = report();
    return text(said, "headline").find(place) != std::string::npos;
  });
  EXPECT_EQ(text(said, "verdict"), "leak");
  EXPECT_NE(text(said, "headline").find(place), std::string::npos) << text(said, "headline");
}

TEST_F(Sites, NameThemOnEveryAllocatorAndOfThreadsInCpp) {
  const std::vector<Leak> leaks = {{"1", "leaks.cpp:24 send_message"},
                                   {"2", "leaks.cpp:29 remember_answer"},
                                   {"3", "leaks.cpp:34 make_array"}};
  std::size_t next = 0;
  for (const heap::AllocatorKind allocator :
       {heap::AllocatorKind::glibc, heap::AllocatorKind::jemalloc, heap::AllocatorKind::tcmalloc,
        heap::AllocatorKind::mimalloc}) {
    if (allocator != heap::AllocatorKind::glibc && !heap::find_installed(allocator)) continue;
    const Leak& leak = leaks[next++ % leaks.size()];
    const Json report =
        report_of_leak({"--allocator", heap::name_of(allocator)}, {EBB_LEAKS_CPP, leak.which});
    EXPECT_EQ(grower(report), leak.place) << heap::name_of(allocator);
  }
  EXPECT_GE(next, 1U);
}

TEST_F(Sites, NameTheLineOfPythonCode) {
  for (const Leak& leak : {Leak{"1", "leaks.py:13 load_batch"}, Leak{"2", "leaks.py:20 decode"},
                           Leak{"3", "leaks.py:25 Model.step"}}) {
    const Json report = report_of_leak({}, {"/usr/bin/python3", EBB_LEAKS_PY, leak.which});
    EXPECT_EQ(grower(report), leak.place);
  }
}

TEST_F(Sites, OfHealthyJobsAndOfABurstNoneIsNamed) {
  const std::vector<Words> jobs = {
      {EBB_LEAKS_C, "0"}, {EBB_LEAKS_C, "4"}, {"/usr/bin/python3", EBB_LEAKS_PY, "0"}};
  for (const Words& job : jobs) {
    const Json report = report_of({}, job);
    EXPECT_EQ(grower(report), "") << job.front() << " " << job.back();
  }
  // The burst is still held.
  const Json report = report_of({}, {EBB_LEAKS_C, "4"}, 3);
  ASSERT_FALSE(report.find("sites")->as_array()->empty());
  EXPECT_NE(text(report.find("sites")->as_array()->front(), "place").find("fill_cache"),
            std::string::npos);
}

TEST_F(Sites, SurviveAKilledJob) {
  support::Subprocess child(command({"--sites"}, {EBB_LEAKS_C, "1", stop_file()}));
  wait_until([&] { return looks_in(so_far()) >= 3; });
  for (const record::ProcessHistory& process : so_far().processes)
    ::kill(process.process.pid, SIGKILL);
  static_cast<void>(support::finished(child));
  const record::RecordedRun recorded = last();
  ASSERT_FALSE(recorded.samplings.empty());
  EXPECT_GT(recorded.samplings.back().bytes, 1U << 20) << "as it stood when it was killed";
}

/// Kills a supervisor and its job at one stroke, and waits until nobody is there any more.
void kill_together(support::Subprocess& supervisor, pid_t job) {
  ::kill(supervisor.pid(), SIGSTOP);  // which sees nothing of what follows
  ::kill(job, SIGKILL);
  ::kill(supervisor.pid(), SIGKILL);
  static_cast<void>(support::finished(supervisor));
  wait_until([&] {
    const auto reading = sense::read_process(job);
    return !reading || reading->virtual_size == 0;
  });
}

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
    EXPECT_NEAR(first.find("bytes")->as_double().value_or(0), 46.9 * (1 << 20), 15 << 20);
  }
}

TEST_F(SitesThatWereLeft, GoOnWhereTheRecordOfALeakEnds) {
  support::Subprocess child(
      command({"--sites", "--interval", "100ms"}, {EBB_LEAKS_C, "2", stop_file()}));
  const std::string place = "/min at leaks.c:27 parse_input, ";
  const auto says = [&] {
    const Finished doctor = support::run({EBB_PROGRAM, "doctor", "last", "--db", db()});
    return doctor.output.find(place) != std::string::npos;
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

TEST_F(Sites, AForkedChildHasATableOfItsOwn) {
  const Json report = report_of_leak({"--wait-all"}, {"/usr/bin/python3", EBB_FORKED_LEAK_PY});
  const record::RecordedRun recorded = last();
  std::set<std::int32_t> pids;
  for (const record::Sampling& sampling : recorded.samplings)
    pids.insert(sampling.process.pid);
  EXPECT_EQ(pids.size(), 2U) << "the parent, and the child that allocates";
  EXPECT_EQ(grower(report), "forked_leak.py:16 leak");
}

TEST_F(Sites, AStormOfForksAndThreadsGoesOnUndisturbed) {
  const Finished done =
      run({"--sites", "--interval", "50ms"}, {"/usr/bin/python3", EBB_FORKS_PY, EBB_LIBRARY});
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_EQ(done.output, "done\n") << done.error;
}

TEST_F(Sites, CollapsedStacksAndAProfileAreWritten) {
  report_of({}, {EBB_LEAKS_C, "4"}, 3);
  const Finished written = support::run({EBB_PROGRAM, "report", "--db", db(), "--collapsed",
                                         folder_ / "stacks", "--pprof", folder_ / "profile"});
  EXPECT_EQ(written.status, 0) << written.error;
  const std::string stacks = base::read_file(folder_ / "stacks").value_or("");
  EXPECT_NE(stacks.find(";leaks.c:41 main;"), std::string::npos) << stacks;
  EXPECT_NE(stacks.find(" fill_cache"), std::string::npos) << stacks;
  EXPECT_GT(std::filesystem::file_size(folder_ / "profile"), 100U);
}

TEST_F(Sites, AreRefusedWhereTheyCannotBe) {
  const Finished observed = run({"--sites", "--observe"}, {"true"});
  EXPECT_EQ(observed.status, 2);
  EXPECT_NE(observed.error.find("--sites and --observe"), std::string::npos) << observed.error;
  EXPECT_EQ(run({}, {"true"}).status, 0);
  const Finished none =
      support::run({EBB_PROGRAM, "report", "--db", db(), "--pprof", folder_ / "x"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.error.find("has no sites"), std::string::npos) << none.error;
}

TEST_F(Sites, WithoutThemNothingIsPreloadedButTheAgent) {
  const Finished done = run({}, {"/bin/sh", "-c", "echo \"$LD_PRELOAD $EBB_SITES\""});
  EXPECT_EQ(done.output.find("libebb-sites"), std::string::npos) << done.output;
}

}  // namespace
}  // namespace ebb::run
