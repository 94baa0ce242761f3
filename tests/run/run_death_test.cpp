// SPDX-License-Identifier: Apache-2.0
// Why a job died: real ends of real jobs, by the kernel in a control group of 256 MiB where groups
// can be made, by limits and by signals.
#include "run/death_fixture.h"
#include "sense/limit_alarm.h"

namespace ebb::run {
namespace {

TEST_F(EbbRunThatDies, OfAFullGroupSaysWhichOne) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const Finished done = run_to_kill({}, {EBB_DIES, "leak"});
  EXPECT_EQ(done.status, -SIGKILL) << done.error;
  const Death found = death();
  EXPECT_EQ(found.by, Killer::cgroup);
  EXPECT_EQ(found.level, 0U);
  EXPECT_TRUE(group_.folder().ends_with(found.group)) << found.group;
  EXPECT_EQ(found.limit, kLimit);
  EXPECT_TRUE(found.of_command);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::out_of_memory);
  const std::string told = "the kernel killed it, since its control group " + found.group +
                           " was full (limit 256.0 MiB)";
  EXPECT_NE(done.error.find(told), std::string::npos) << done.error;
  EXPECT_NE(doctor().find("- out of memory: " + told), std::string::npos) << doctor();
}

TEST_F(EbbRunThatDies, OfAGroupAboveItsOwnSaysWhichLevel) {
  if (!group_.usable() || !group_.add_inner()) GTEST_SKIP() << "no control group can be made here";
  const Finished done = run_to_kill({}, {EBB_DIES, "leak"});
  EXPECT_EQ(done.status, -SIGKILL) << done.error;
  const Death found = death();
  EXPECT_EQ(found.by, Killer::cgroup);
  EXPECT_EQ(found.level, 1U);
  EXPECT_TRUE(group_.folder().ends_with(found.group)) << found.group;
  EXPECT_NE(doctor().find(", 1 level above its own, was full (limit 256.0 MiB)"), std::string::npos)
      << doctor();
}

TEST_F(EbbRunThatDies, AfterItMovedIntoAGroupIsFollowedThere) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  // As with systemd-run --scope in front of it: ebb itself lives elsewhere.
  const Finished done = run({}, group_.inside({EBB_DIES, "leak"}));
  EXPECT_EQ(done.status, -SIGKILL) << done.error;
  const Death found = death();
  EXPECT_EQ(found.by, Killer::cgroup);
  EXPECT_EQ(found.level, 0U);
  EXPECT_TRUE(group_.folder().ends_with(found.group)) << found.group;
  EXPECT_NE(doctor().find("its control group counts 1 process killed"), std::string::npos)
      << doctor();
  EXPECT_TRUE(has_event(last(), "oom_kill"));
}

TEST_F(EbbRunThatDies, WithOneOfItsProcessesIsToldSo) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const std::string job = std::string(EBB_DIES) + " leak; exit $?";
  const Finished done = run_to_kill({}, {"sh", "-c", job});
  EXPECT_EQ(done.status, 137) << done.error;
  const Death found = death();
  EXPECT_EQ(found.by, Killer::cgroup);
  EXPECT_FALSE(found.of_command);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::exit);
  EXPECT_NE(doctor().find(" of the job, since its control group "), std::string::npos) << doctor();
}

TEST_F(EbbRunThatDies, OfALeakHadALiveHeap) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json = explained_memory_of({EBB_DIES, "leak"}, {"--no-sites"});
  EXPECT_GT(part(json, "live"), 0.5 * kLimit) << json.text(true);
  EXPECT_NE(fix_of(json).find(" live on the heap, "), std::string::npos) << fix_of(json);
}

TEST_F(EbbRunThatDies, OfALeakInPythonHadALiveHeap) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json = last_memory_of(
      {},
      {"/usr/bin/python3", "-c",
       "import os, time\nkept, pause = [], 0.001 * int(os.environ.get('EBB_TEST_SLOWER', '1'))\n"
       "while True:\n  kept.append(b'x' * 100000); time.sleep(pause)"});
  EXPECT_GT(part(json, "live"), 0.5 * kLimit) << json.text(true);
}

TEST_F(EbbRunThatDies, OfRetainedMemoryNamesTheCleanup) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  base::Json json;
  // Where nobody had asked its heap after it had freed most of it, or somebody had cleaned up,
  // since the machine stood still for a while: that is no trial.
  const auto is_trial = [&] {
    return last().actions.empty() && part(json, "live") > 0 && part(json, "retained") > 100 << 20;
  };
  for (int i = 0; i < 20 && (i == 0 || !is_trial()); ++i)
    json = last_memory_of({"--warn", "99", "--critical", "100", "--interval", "100ms"},
                          {EBB_DIES, "retained"});
  EXPECT_GT(part(json, "retained"), 100 << 20) << json.text(true);
  EXPECT_NE(fix_of(json).find(" retained: a cleanup would have carried it on"), std::string::npos)
      << fix_of(json);
}

TEST_F(EbbRunThatDies, OfFilesInTmpfsNamesThem) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const std::string file = "/dev/shm/ebb-test-" + std::to_string(getpid());
  const base::Json json = explained_memory_of({EBB_DIES, "tmpfs", file});
  std::filesystem::remove(file);
  EXPECT_NEAR(part(json, "tmpfs"), 140 << 20, 1 << 20) << json.text(true);
  EXPECT_NE(fix_of(json).find(" of files in tmpfs"), std::string::npos) << fix_of(json);
}

TEST_F(EbbRunThatDies, IsNotBlamedOnThePageCache) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json =
      explained_memory_of({EBB_DIES, "cache", folder_ / "large"}, {"--no-sites"});
  EXPECT_NE(*json.find("verdict")->as_string(), "file_cache");
  EXPECT_NE(fix_of(json).find(" live on the heap, "), std::string::npos) << json.text(true);
}

TEST_F(EbbRunThatDies, OfCopiesAfterForksNamesThem) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json =
      last_memory_of({"--interval", "100ms"}, {"/usr/bin/python3", EBB_COPIES_PY});
  EXPECT_GT(part(json, "copies"), 32 << 20) << json.text(true);
}

#if EBB_HAS_SITES
TEST_F(EbbRunThatDies, OfALeakWithSitesNamesTheLine) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const struct {
    std::vector<std::string> job;
    std::string place;
  } leaks[] = {{{EBB_DIES, "leak"}, "dies.c:23 leak"},
               {{"/usr/bin/python3", EBB_LEAKS_PY, "1", stop_file()}, "leaks.py:13 load_batch"}};
  for (const auto& leak : leaks) {
    const base::Json json = last_memory_of({"--sites", "--interval", "200ms"}, leak.job);
    EXPECT_EQ(largest_site(json), leak.place) << json.text(true);
    EXPECT_NE(fix_of(json).find(" live at " + leak.place + ": free what is not used"),
              std::string::npos)
        << fix_of(json);
    EXPECT_GT(json.find("memory")->find("fix")->find("bytes")->as_double().value_or(0), 100 << 20);
    EXPECT_NE(doctor().find("\n             " + std::string("  ") + leak.place + " "),
              std::string::npos)
        << doctor();
  }
}

TEST_F(EbbRunThatDies, OfMemoryThatItOnlyAskedForHasItBeside) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json = last_memory_of({"--sites", "--interval", "200ms"}, {EBB_DIES, "asked"});
  const base::Json* memory = json.find("memory");
  EXPECT_NEAR(memory->find("untouched_bytes")->as_double().value_or(0), 96 << 20, 24 << 20)
      << json.text(true);
  EXPECT_EQ(memory->find("processes")->as_array()->front().find("untouched_bytes")->as_double(),
            memory->find("untouched_bytes")->as_double());
  EXPECT_EQ(largest_site(json), "dies.c:23 leak") << json.text(true);
  EXPECT_NE(json.text().find("dies.c:73 ask"), std::string::npos) << json.text(true);
}
#endif

TEST_F(EbbRunThatDies, WithoutSitesNamesTheProcessAlone) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const base::Json json = last_memory_of({"--no-sites"}, {EBB_DIES, "leak"});
  EXPECT_NE(fix_of(json).find(" of it in process "), std::string::npos) << fix_of(json);
  EXPECT_TRUE(json.find("memory")->find("processes")->as_array()->front().find("sites")->is_null());
}

TEST_F(EbbRunThatDies, NearTheLimitIsLookedAtManyTimesASecond) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  Subprocess child(
      group_.inside(command({"--quiet", "--interval", "10s"}, {EBB_DIES, "hold", stop_file()})));
  // Two samples that are closer to each other than those of any job in its first minutes.
  wait_until([&] {
    const record::RecordedRun run = so_far();
    if (run.summary.run.ended) return true;
    std::size_t close = 0;
    for (std::size_t i = 1; i < run.place.size(); ++i)
      if (run.place[i].now.seconds - run.place[i - 1].now.seconds < 0.08) ++close;
    return close >= 3;
  });
  folder_.write("stop", "");
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(EbbRunThatDies, AnAlarmWakesWhenTheGroupComesNearItsLimit) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  sense::CgroupPlace place = sense::find_cgroup().value_or(sense::CgroupPlace{});
  place.directories = {group_.folder()};
  sense::LimitAlarm alarm = sense::LimitAlarm::of(place);
  std::vector<pollfd> sources = alarm.sources();
  ASSERT_FALSE(sources.empty());
  EXPECT_EQ(poll(sources.data(), sources.size(), 0), 0) << "nothing has happened yet";
  Subprocess job(group_.inside({EBB_DIES, "hold", stop_file()}));
  EXPECT_GT(poll(sources.data(), sources.size(), 120'000), 0);
  folder_.write("stop", "");
  EXPECT_EQ(job.wait(), 0);
  alarm.quiet();
  sources = alarm.sources();
  EXPECT_EQ(poll(sources.data(), sources.size(), 0), 0) << "it was taken note of";
}

TEST_F(EbbRunThatDies, AGroupThatOthersMadeIsReadFromOutside) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  const std::string file = "/dev/shm/ebb-test-" + std::to_string(getpid());
  Subprocess job(group_.inside({"/usr/bin/python3", "-c",
                                "import time\nopen('" + file +
                                    "', 'wb').write(b'x' * (60 << 20))\n"
                                    "kept = bytearray(100 << 20)\nprint('ready', flush=True)\n"
                                    "time.sleep(600)"}));
  ASSERT_EQ(job.read_line(), "ready");
  const Finished asked =
      support::run({EBB_PROGRAM, "doctor", "--cgroup", group_.folder(), "--json"});
  kill(job.pid(), SIGKILL);
  job.wait();
  std::filesystem::remove(file);
  ASSERT_EQ(asked.status, 0) << asked.error;
  const base::Json json = base::parse_json(asked.output).value_or({});
  const base::Json wrapped = base::Json::object({{"memory", json}});
  EXPECT_NEAR(part(wrapped, "tmpfs"), 60 << 20, 1 << 20) << asked.output;
  EXPECT_EQ(json.find("limit_bytes")->as_unsigned(), kLimit);
  const base::Json::Array* processes = json.find("processes")->as_array();
  ASSERT_EQ(processes->size(), 1U);
  EXPECT_EQ(processes->front().find("pid")->as_int(), job.pid());
  EXPECT_GT(processes->front().find("bytes")->as_double().value_or(0), 100 << 20);
  const Finished wrong = support::run({EBB_PROGRAM, "doctor", "--cgroup", "/no/such/group"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.error.find("/no/such/group: no control group that accounts memory, expected "),
            std::string::npos)
      << wrong.error;
}

TEST_F(EbbRunThatDies, OfAKillFromOutsideDoesNotGuess) {
  Subprocess child(command({"--quiet"}, {EBB_DIES, "wait"}));
  ASSERT_EQ(child.read_line(), "ready");
  wait_until([&] { return !so_far().processes.empty(); });
  kill(so_far().processes.front().process.pid, SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_EQ(death().by, Killer::unknown);
  EXPECT_EQ(last().summary.run.ending, fact::RunEnd::signal);
  EXPECT_NE(doctor().find("- SIGKILL from outside, sender not known after "), std::string::npos)
      << doctor();
}

TEST_F(EbbRunThatDies, OfASignalThatWasPassedOnNamesItsSender) {
  Subprocess child(command({"--quiet"}, {EBB_DIES, "wait"}));
  ASSERT_EQ(child.read_line(), "ready");
  kill(child.pid(), SIGTERM);
  EXPECT_EQ(child.wait(), -SIGTERM);
  const Death found = death();
  EXPECT_EQ(found.by, Killer::sender);
  EXPECT_EQ(found.sender, getpid());
  EXPECT_EQ(found.sender_name, "run_death_test");
  EXPECT_EQ(found.sender_user, getuid());
  EXPECT_NE(doctor().find("- SIGTERM from process " + std::to_string(getpid()) +
                          " (run_death_test) after "),
            std::string::npos)
      << doctor();
}

TEST_F(EbbRunThatDies, OfItsLimitOfTimeSaysSo) {
  for (const char* kind : {"", "-S "}) {
    const std::string job = std::string("ulimit ") + kind + "-t 1; exec " + EBB_DIES + " spin";
    const Finished done = run({"--quiet"}, {"sh", "-c", job});
    EXPECT_EQ(done.status, *kind == '\0' ? -SIGKILL : -SIGXCPU) << done.error;
    const Death found = death();
    EXPECT_EQ(found.by, Killer::rlimit_cpu);
    EXPECT_EQ(found.limit_seconds, 1.0);
    EXPECT_GE(found.used_seconds.value_or(0), 0.5);
    EXPECT_EQ(last().summary.run.ending, fact::RunEnd::signal);
    EXPECT_NE(doctor().find("its time on processors was up (RLIMIT_CPU 1.0 s, used "),
              std::string::npos)
        << doctor();
  }
}

TEST_F(EbbRunThatDies, OfItsLimitOfAddressSpaceSaysSo) {
  const char* leak =
      "import time\nkept = []\nwhile True:\n  kept.append(bytearray(1 << 20)); time.sleep(0.005)";
  for (const std::string& job :
       {std::string(EBB_DIES) + " leak", "/usr/bin/python3 -c '" + std::string(leak) + "'"}) {
    const bool is_python = job.find("python3") != std::string::npos;
    const Finished done =
        run({"--interval", "50ms"}, {"sh", "-c", "ulimit -v 393216; exec " + job});
    EXPECT_EQ(done.status, is_python ? 1 : -SIGABRT) << done.error;
    const Death found = death();
    EXPECT_EQ(found.by, Killer::rlimit_as) << done.error;
    EXPECT_EQ(found.limit, 384U << 20);
    EXPECT_GE(found.reached.value_or(0), 345U << 20);
    EXPECT_NE(doctor().find("limit of its address space (RLIMIT_AS 384.0 MiB, of which "),
              std::string::npos)
        << doctor();
  }
}

TEST_F(EbbRunThatDies, TogetherWithItsSupervisorLeavesARecordThatSaysSo) {
  if (!group_.usable()) GTEST_SKIP() << "no control group can be made here";
  Subprocess child(group_.inside(command({"--quiet"}, {EBB_DIES, "hold", stop_file()})));
  wait_until([&] {
    const record::RecordedRun run = so_far();
    return !run.place.empty() && run.place.back().now.group.usage.value_or(0) > 200U << 20;
  });
  const pid_t job = so_far().processes.front().process.pid;
  kill(child.pid(), SIGKILL);
  kill(job, SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_FALSE(last().summary.run.death);
  EXPECT_NE(doctor().find("- cut short after "), std::string::npos) << doctor();
  EXPECT_EQ(doctor().find(" before the end"), std::string::npos) << "nobody saw it: " << doctor();
  checked_memory();
}

}  // namespace
}  // namespace ebb::run
