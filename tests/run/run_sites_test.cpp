// SPDX-License-Identifier: Apache-2.0
// ebb run --sites: real programs that leak in one of three functions, and some that do not leak.
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "heap/installed.h"
#include "run/limited_group.h"
#include "run/sites_fixture.h"
#include "support/pprof.h"
#include "support/process_state.h"

namespace ebb::run {
namespace {

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
  wait_until([&] {
    const record::RecordedRun run = so_far();
    return looks_in(run) >= 3 && run.samplings.back().bytes > 1U << 20;
  });
  for (const record::ProcessHistory& process : so_far().processes)
    ::kill(process.process.pid, SIGKILL);
  static_cast<void>(support::finished(child));
  const record::RecordedRun recorded = last();
  ASSERT_FALSE(recorded.samplings.empty());
  EXPECT_GT(recorded.samplings.back().bytes, 1U << 20) << "as it stood when it was killed";
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

TEST_F(Sites, OfManyProcessesTakeAHundredthOfTheLimitAtMost) {
  const LimitedGroup group("268435456");
  if (!group.usable()) GTEST_SKIP() << "no control group can be made here";
  constexpr std::uint64_t kMost = (256 << 20) / 100;
  constexpr std::uint64_t kWorkers = 40;
  support::TemporaryDirectory runtime;
  const support::ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  std::uint64_t refused = 0;
  const auto is_all_there = [&](const record::RecordedRun& run) {
    for (const record::Event& event : run.events)
      if (event.is(record::EventKind::no_room))
        refused = std::strtoull(event.text.c_str(), nullptr, 10);
    std::set<std::int32_t> pids;
    for (const record::Sampling& sampling : run.samplings)
      pids.insert(sampling.process.pid);
    return pids.size() + refused >= kWorkers;
  };
  std::uint64_t most = 0;
  const auto measured = [&](const record::RecordedRun& run) {
    std::uint64_t together = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(runtime.path())) {
      struct stat status {};
      const std::string name = file.path().filename().string();
      if (name.starts_with("sites-") && name != "sites-room" &&
          ::stat(file.path().c_str(), &status) == 0)
        together += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    most = std::max(most, together);
    return is_all_there(run);
  };
  const Finished done =
      run_until(group.inside(command(
                    {"--sites", "--interval", "200ms", "--wait-all"},
                    {"/usr/bin/python3", EBB_WORKERS_PY, std::to_string(kWorkers), stop_file()})),
                measured);
  EXPECT_EQ(done.status, 0) << done.error;
  EXPECT_GT(most, kMost / 2);
  EXPECT_LE(most, kMost + kMost / 10) << "beside a page or two of each that the file system adds";
  const Json said = report();
  const Json* sampling = said.find("sampling");
  EXPECT_GE(sampling->find("processes_without_room")->as_unsigned().value_or(0), 20U);
  EXPECT_GE(sampling->find("processes")->as_unsigned().value_or(0), 5U);
  const Finished text = support::run({EBB_PROGRAM, "report", "--db", db()});
  EXPECT_NE(text.output.find(" more processes had no room for a table"), std::string::npos)
      << text.output;
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
  std::uint64_t bytes = 0;  // behind each stack
  for (const std::string_view line : base::split(stacks, '\n'))
    bytes += base::parse_unsigned(line.substr(line.rfind(' ') + 1)).value_or(0);
  const auto profile = support::read_pprof(folder_ / "profile");
  ASSERT_TRUE(profile);
  std::uint64_t of_profile = 0;
  bool has_cache = false;
  for (const support::Pprof::Sample& sample : profile->samples) {
    ASSERT_EQ(sample.values.size(), profile->types.size());
    of_profile += sample.values.front();
    for (std::size_t i = 0; i + 1 < sample.calls.size(); ++i)
      has_cache |= sample.calls[i].function == "fill_cache" && sample.calls[i + 1].line == 41 &&
                   sample.calls[i + 1].function == "main" && sample.values.front() > 1 << 20;
  }
  EXPECT_TRUE(has_cache) << stacks;
  EXPECT_GT(bytes, 1U << 20);
  EXPECT_EQ(of_profile, bytes) << "the same in both files";
  const Finished doctor =
      support::run({EBB_PROGRAM, "doctor", "last", "--db", db(), "--collapsed", folder_ / "again"});
  EXPECT_EQ(doctor.status, 0) << doctor.error;
  EXPECT_EQ(base::read_file(folder_ / "again").value_or(""), stacks) << "as ebb report has them";
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

TEST_F(Sites, AProcessIsSampledUnlessEbbIsDisabledThere) {
  const std::string allocate_and_tell =
      "held = [bytes(1 << 16) for _ in range(2000)]\n"
      "print('sampled' if '/sites-' in open('/proc/self/maps').read() else 'left alone')";
  const auto said_with = [&](const std::string& word) {
    return run({"--sites"},
               {"env", "EBB_DISABLE=" + word, "/usr/bin/python3", "-c", allocate_and_tell})
        .output;
  };
  for (const char* word : {"", "0", "false", "No"})
    EXPECT_EQ(said_with(word), "sampled\n") << word;
  for (const char* word : {"1", "true", "YES", "perhaps"})
    EXPECT_EQ(said_with(word), "left alone\n") << word;
}

TEST_F(Sites, WithoutThemNothingIsPreloadedButTheAgent) {
  const Words job = {"/bin/sh", "-c", "echo \"$LD_PRELOAD $EBB_SITES\""};
  EXPECT_NE(run({}, job).output.find("libebb-sites"), std::string::npos);
  const Finished done = run({"--no-sites"}, job);
  EXPECT_NE(done.output.find("libebb-agent"), std::string::npos) << done.output;
  EXPECT_EQ(done.output.find("ebb-sites"), std::string::npos) << done.output;
  EXPECT_TRUE(done.output.ends_with(" \n")) << "EBB_SITES: " << done.output;
}

}  // namespace
}  // namespace ebb::run
