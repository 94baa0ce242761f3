// SPDX-License-Identifier: Apache-2.0
#include "story/run_story.h"

#include <gtest/gtest.h>

#include "record/schema.h"
#include "story/job.h"

namespace ebb::story {
namespace {

using fact::Verdict;

double number(const RunStory& story, const char* key) {
  const base::Json* found = story.diagnosis.evidence.find(key);
  return found == nullptr ? NAN : found->as_double().value_or(NAN);
}

bool tells(const RunStory& story, const std::string& part) {
  for (const std::string& finding : story.diagnosis.findings)
    if (finding.find(part) != std::string::npos) return true;
  return false;
}

struct Case {
  const char* name;
  std::function<void(Job&)> fill;
  Verdict verdict;
  std::vector<Verdict> also{};
  fact::Confidence confidence = fact::Confidence::high;
};

// The memory of jobs as an agent reports it, with the cleanups that a supervisor makes.
const Case kCases[] = {
    {"leak",
     [](Job& job) {
       job.add(7, "a", {growing(200, 0.3), growing(150, 0.3), level(20)});
     },
     Verdict::leak},
    {"leak in rounds, announced",
     [](Job& job) {
       const auto key =
           job.add(7, "a", {rounds(200, 300, 20, 0.3), rounds(150, 290, 20, 0.3), level(20)});
       job.announce_rounds(key, 20);
     },
     Verdict::leak},
    {"retention that nobody cleans",
     [](Job& job) {
       job.add(7, "a", {growing(200, 0.5), level(150), growing(20, 0.5)});
     },
     Verdict::retention,
     {},
     fact::Confidence::medium},
    {"retention under cleanups",
     [](Job& job) {
       const auto key = job.add(7, "a", {rounds(200, 400, 20), level(150), rounds(10, 390, 20)});
       job.clean(key, 20, level(200), level(390));
     },
     Verdict::retention},
    {"retention at a level",
     [](Job& job) {
       job.add(7, "a", {level(1000), level(100), level(850)});
     },
     Verdict::retention,
     {},
     fact::Confidence::medium},
    {"both",
     [](Job& job) {
       const auto key =
           job.add(7, "a", {rounds(200, 400, 20, 0.3), growing(150, 0.3), rounds(10, 390, 20)});
       job.clean(key, 20, growing(200, 0.3), level(390));
     },
     Verdict::leak,
     {Verdict::retention}},
    {"neither",
     [](Job& job) {
       job.add(7, "a", {level(300), level(270), level(20)});
     },
     Verdict::healthy},
    {"neither, with cleanups that find nothing",
     [](Job& job) {
       const auto key = job.add(7, "a", {level(300), level(270), level(20)});
       job.clean(key, 30, level(299), level(1));
     },
     Verdict::healthy},
    {"neither, with cleanups of a card, which leave the host's memory as it was",
     [](Job& job) {
       const auto key = job.add(7, "a", {level(300), level(270), level(20)});
       job.clean(key, 30, growing(200, 0.3), level(0), fact::Trigger::card);
     },
     Verdict::healthy},
    {"rounds that come back",
     [](Job& job) {
       job.add(7, "a", {rounds(200, 300, 10), rounds(150, 300, 10), level(20)});
     },
     Verdict::healthy},
    {"Python's small objects",
     [](Job& job) {
       const auto key = job.add(7, "python3 a.py", {growing(200, 0.4), level(60), level(15)});
       job.clean(key, 20, growing(199, 0.4), level(1));
     },
     Verdict::foreign},
    {"fragmentation",
     [](Job& job) {
       const auto key = job.add(7, "a", {growing(200, 0.5), level(150), growing(30, 0.5)});
       job.clean(key, 20, growing(195, 0.5), level(4));
     },
     Verdict::fragmentation},
    {"file cache",
     [](Job& job) {
       job.add(7, "a", {level(300), level(270), level(10), growing(10, 0.5)});
     },
     Verdict::file_cache},
    {"shared memory",
     [](Job& job) {
       job.add(7, "a", {level(300), level(270), level(10), level(10), growing(10, 0.5)});
     },
     Verdict::file_cache},
    {"warm-up, then level",
     [](Job& job) {
       const auto curve = [](double t) { return 400 - 200 * std::exp(-t / 15); };
       job.add(7, "a", {curve, curve, level(10)});
     },
     Verdict::healthy},
    {"a ratchet that has come to rest",
     [](Job& job) {
       const auto curve = [](double t) { return 400 + 10 * std::floor(std::min(t, 120.0) / 12); };
       job.add(7, "a", {curve, level(350), level(20)});
     },
     Verdict::healthy},
    {"leak, live unknown",
     [](Job& job) {
       const auto key = job.add(7, "a", {rounds(200, 100, 20, 0.3)});
       job.clean(key, 20, growing(200, 0.3), level(90));
     },
     Verdict::leak,
     {Verdict::retention},
     fact::Confidence::low},
    {"retention, live unknown",
     [](Job& job) {
       const auto key = job.add(7, "a", {rounds(200, 400, 20)});
       job.clean(key, 20, level(200), level(390));
     },
     Verdict::retention,
     {},
     fact::Confidence::low},
    {"neither, live unknown",
     [](Job& job) {
       const auto key = job.add(7, "a", {level(300)});
       job.clean(key, 20, level(300), level(0));
     },
     Verdict::healthy,
     {},
     fact::Confidence::medium},
};

TEST(RunStory, IsRightOnEveryKindOfJob) {
  for (const Case& one : kCases) {
    Job job;
    one.fill(job);
    const RunStory story = story_of(job.recorded());
    std::string also;
    for (const Verdict verdict : story.diagnosis.also)
      also += std::string(" ") + fact::name_of(verdict);
    EXPECT_EQ(story.diagnosis.verdict, one.verdict)
        << one.name << ": " << fact::name_of(story.diagnosis.verdict) << ": "
        << story.diagnosis.headline;
    EXPECT_EQ(story.diagnosis.also, one.also) << one.name << ":" << also;
    EXPECT_EQ(story.diagnosis.confidence, one.confidence) << one.name;
  }
}

TEST(RunStory, ADenseBeginningIsNoTrend) {
  // What the work leaves at the bottom is lower the more often one looks.
  Job job(120);
  const auto key = job.add(7, "a", {level(300), level(280), level(10)});
  std::vector<record::Sample> dense;
  const auto unrest = [](double t) { return 60 * std::fmod(t * 1234.567 + t * t * 77.7, 1.0); };
  for (double t = 0; t < 120; t += std::clamp(t / 80, 0.1, 1.0)) {
    record::Sample sample;
    sample.process = key;
    sample.seconds = t;
    sample.memory.anon = static_cast<std::uint64_t>((300 + unrest(t)) * 1048576);
    sample.memory.rss = sample.memory.anon;
    sample.memory.live = 280 << 20;
    sample.memory.retained = 10 << 20;
    dense.push_back(sample);
  }
  ASSERT_GT(dense.size(), 200U);
  job.batch().samples = dense;
  const record::RecordedRun run = job.recorded();
  const ProcessSeries series = series_of(run, run.processes.at(0));
  EXPECT_LT(series.anon.size(), 160U);
  EXPECT_GT(series.anon.size(), 100U);
  double shortest = 1e9;
  for (std::size_t i = 1; i < series.anon.size(); ++i)
    shortest = std::min(shortest, series.anon[i].seconds - series.anon[i - 1].seconds);
  EXPECT_GE(shortest, 0.6);
  const RunStory story = story_of(run);
  EXPECT_TRUE(story.diagnosis.verdict == Verdict::healthy ||
              story.diagnosis.verdict == Verdict::not_enough_data)
      << story.diagnosis.headline;
}

TEST(RunStory, AJobOfFifteenSecondsHasAVerdict) {
  for (const bool leaks : {false, true}) {
    Job job(15);
    const auto key = job.add(7, "a", {level(300), level(280), level(10)});
    std::vector<record::Sample> dense;
    for (double t = 0; t < 15; t += std::clamp(t / 80, 0.1, 1.0)) {
      record::Sample sample;
      sample.process = key;
      sample.seconds = t;
      const double grown = leaks ? 4 * t : 0;
      sample.memory.anon = static_cast<std::uint64_t>((300 + grown) * 1048576);
      sample.memory.rss = sample.memory.anon;
      sample.memory.live = static_cast<std::uint64_t>((280 + grown) * 1048576);
      sample.memory.retained = 10 << 20;
      dense.push_back(sample);
    }
    job.batch().samples = dense;
    const RunStory story = story_of(job.recorded());
    EXPECT_EQ(story.diagnosis.verdict, leaks ? Verdict::leak : Verdict::healthy)
        << story.diagnosis.headline;
  }
}

TEST(RunStory, MeasuresALeakAndTheTimeUntilTheLimit) {
  Job job;
  job.add(7, "a", {growing(200, 0.5), growing(150, 0.5), level(20)});
  job.add_place(growing(300, 0.5), 1000);
  const RunStory story = story_of(job.recorded());
  const double per_hour = 0.5 * 1048576 * 3600;
  EXPECT_NEAR(number(story, "live_slope_bytes_per_hour"), per_hour, 0.05 * per_hour);
  EXPECT_NEAR(number(story, "retained_bytes"), 20 * 1048576, 1);
  // 1000 - 300 - 200 MiB are left at the end, at half a MiB per second.
  const base::Json* until = story.diagnosis.evidence.find("seconds_until_limit");
  ASSERT_TRUE(until->is_object()) << story.diagnosis.evidence.text();
  EXPECT_NEAR(until->find("likely")->as_double().value(), 1000, 100);
}

TEST(RunStory, NamesTheProcessWithTheWorstVerdict) {
  Job job;
  job.add(7, "parent", {level(900), level(850), level(20)});
  job.add(8, "worker leaks", {growing(100, 0.5), growing(80, 0.5), level(10)});
  job.add(9, "worker leaks too", {growing(100, 0.3), growing(80, 0.3), level(10)});
  job.add(10, "worker keeps", {growing(100, 0.5), level(80), growing(10, 0.5)});
  const record::RecordedRun run = job.recorded();
  const RunStory story = story_of(run);
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak);
  EXPECT_EQ(story.diagnosis.also, std::vector<Verdict>{Verdict::retention});
  ASSERT_TRUE(story.culprit);
  EXPECT_EQ(story.processes[*story.culprit].process.pid, 8);
  EXPECT_TRUE(story.diagnosis.headline.starts_with("process 8 (worker leaks): live bytes grow"))
      << story.diagnosis.headline;
  EXPECT_TRUE(tells(story, "the same holds for 1 more of the 4 processes"));
  EXPECT_TRUE(tells(story, "process 10 (worker keeps): retention"));
  EXPECT_EQ(verdict_json(run, story).find("process")->find("pid")->as_int(), 8);
  EXPECT_EQ(story.processes.front().process.command, "parent") << "the largest first";
}

TEST(RunStory, ASmallSlowLeakDoesNotHideWhatFillsTheMachine) {
  Job job;
  job.add(7, "large", {growing(500, 5), level(300), growing(100, 5)});
  job.add(8, "small", {growing(30, 0.05), growing(20, 0.05), level(1)});
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::retention) << story.diagnosis.headline;
  EXPECT_EQ(story.diagnosis.also, std::vector<Verdict>{Verdict::leak});
}

TEST(RunStory, ForkedWorkersAreSummedByWhatIsTheirs) {
  Job job;
  for (int i = 0; i < 5; ++i)
    job.add(7 + i, "worker", {level(600), level(500), level(20), {}, {}, level(140)});
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::healthy) << story.diagnosis.headline;
  EXPECT_NEAR(number(story, "tree_pss_bytes"), 5 * 140 * 1048576.0, 1);
  EXPECT_TRUE(
      tells(story, "5 processes together: pss at most 700.0 MiB in 80 readings (rss 2.9 GiB"));
}

TEST(RunStory, PagesThatStopBeingSharedAreTold) {
  Job job;
  for (int i = 0; i < 4; ++i)
    job.add(7 + i, "worker", {level(600), level(500), level(20), {}, {}, growing(150, 0.3)});
  const RunStory story = story_of(job.recorded());
  EXPECT_TRUE(tells(story, "pages that were shared since the fork become private"));
}

TEST(RunStory, ProcessesThatNobodyEndsAreALeak) {
  Job job;
  job.add(7, "parent", {level(100), level(80), level(5)});
  for (int i = 1; i < 30; ++i)
    job.add(100 + i, "child", {level(20), level(15), level(1)}, 12.0 * i);
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak) << story.diagnosis.headline;
  EXPECT_NE(story.diagnosis.headline.find("ever more of them: 30"), std::string::npos)
      << story.diagnosis.headline;
  EXPECT_FALSE(story.culprit);
}

TEST(RunStory, ShortLivedChildrenAreNoTrend) {
  Job job;
  job.add(7, "parent", {level(100), level(80), level(5)});
  for (int i = 0; i < 100; ++i)
    job.add(100 + i, "child", {level(20), level(15), level(1)}, 3.0 * i, 3.0 * i + 6);
  EXPECT_EQ(story_of(job.recorded()).diagnosis.verdict, Verdict::healthy);
}

TEST(RunStory, SaysWhatCleanupsReturnedAndCost) {
  Job job;
  const auto key = job.add(7, "a", {rounds(200, 400, 20), level(150), rounds(10, 390, 20)});
  job.clean(key, 20, level(200), level(390));
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.cleanups.count, 19U);
  EXPECT_EQ(story.cleanups.returned, 19 * 390 * record::kMiB);
  EXPECT_NEAR(story.cleanup_share, 19 * 0.02 / 400, 1e-4);
  EXPECT_TRUE(tells(story, "19 cleanups returned 7.2 GiB in all, for 0.10 % of the time"));
}

TEST(RunStory, ShortRunsAreNotEnoughData) {
  Job job(9);
  job.add(7, "a", {growing(100, 10), growing(100, 10), level(1)});
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::not_enough_data);
  EXPECT_EQ(story.diagnosis.confidence, fact::Confidence::low);
  EXPECT_EQ(story_of(Job(5).recorded()).diagnosis.verdict, Verdict::not_enough_data);
}

/// Its agent says nothing from 200 s on; the supervisor notices.
Job with_silent_agent(const Job::Curve& anon) {
  Job job;
  const record::ProcessKey key = job.add(7, "a", {anon, level(80), level(5)});
  for (record::Sample& sample : job.batch().samples) {
    if (sample.seconds < 200) continue;
    sample.memory.live.reset();
    sample.memory.retained.reset();
  }
  job.batch().events.push_back({215, name_of(record::EventKind::silent), "does not answer", key});
  return job;
}

TEST(RunStory, ASilentAgentIsNoLeak) {
  const RunStory story = story_of(with_silent_agent(growing(100, 1)).recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::not_enough_data);
  EXPECT_EQ(story.diagnosis.confidence, fact::Confidence::low);
  EXPECT_NE(story.diagnosis.headline.find("its agent did not answer for the last"),
            std::string::npos)
      << story.diagnosis.headline;
  EXPECT_EQ(story.diagnosis.fix.kind, fact::FixKind::probe);
  EXPECT_NE(story.diagnosis.fix.text.find("gdb -p 7"), std::string::npos);
  EXPECT_FALSE(story.processes.front().live) << "an old value is not shown as today's";
  EXPECT_FALSE(story.processes.front().retained);
}

TEST(RunStory, ASilentAgentInAProcessThatDoesNotGrowIsMentioned) {
  const RunStory story = story_of(with_silent_agent(level(100)).recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::healthy);
  const auto& findings = story.diagnosis.findings;
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const std::string& line) {
    return line.starts_with("its agent did not answer for the last");
  }));
}

TEST(RunStory, AnAgentThatAnswersAgainIsBelieved) {
  Job job;
  const record::ProcessKey key = job.add(7, "a", {growing(100, 1), growing(80, 1), level(5)});
  job.batch().events.push_back({215, name_of(record::EventKind::silent), "does not answer", key});
  EXPECT_EQ(story_of(job.recorded()).diagnosis.verdict, Verdict::leak);
}

TEST(RunStory, TellsFirstThatItRanOutOfMemory) {
  Job killed;
  killed.run().ending = fact::RunEnd::out_of_memory;
  killed.run().signal = 9;
  killed.add(7, "a", {growing(100, 1), growing(80, 1), level(5)});
  const RunStory leak = story_of(killed.recorded());
  EXPECT_EQ(leak.diagnosis.verdict, Verdict::leak);
  EXPECT_TRUE(leak.diagnosis.findings.front().starts_with("out of memory: the kernel killed it"))
      << leak.diagnosis.findings.front();
  Job stopped(9);
  stopped.run().ending = fact::RunEnd::stopped;
  stopped.add(7, "a", {level(100)});
  const RunStory brief = story_of(stopped.recorded());
  EXPECT_TRUE(brief.diagnosis.findings.front().starts_with("stopped by Ebb after 8.0 s"));
  EXPECT_NE(brief.diagnosis.headline.find("before a trend could be seen"), std::string::npos);
  Job level_one;
  level_one.run().ending = fact::RunEnd::out_of_memory;
  level_one.add(7, "a", {level(100), level(90), level(1)});
  EXPECT_EQ(story_of(level_one.recorded()).diagnosis.verdict, Verdict::not_enough_data)
      << "a job that ran out of memory is not healthy";
}

TEST(RunStory, EndingsAreToldInWords) {
  record::RunSummary run;
  run.seconds = 90;
  run.run.exit_code = 0;
  EXPECT_EQ(ending_of(run).text, "exit status 0");
  EXPECT_FALSE(ending_of(run).bad);
  run.run.exit_code = 3;
  EXPECT_TRUE(ending_of(run).bad);
  run.run.exit_code.reset();
  run.run.signal = 11;
  EXPECT_EQ(ending_of(run).text, "killed by signal 11 (SIGSEGV) after 90.0 s");
  run.state = record::State::lost;
  run.processes = 3;
  run.peak_rss = 200 << 20;
  run.run.limit = 1 << 30;
  EXPECT_EQ(ending_of(run).brief, "cut short");
  EXPECT_EQ(
      ending_of(run).text,
      "cut short after 90.0 s: ebb itself ended without a word (killed, or the machine went "
      "down); how the command ended is not known, until then it had 3 processes and a peak of "
      "at least 200.0 MiB of 1.0 GiB");
  EXPECT_TRUE(to_json(run).find("cut_by")->is_null());
  run.cut_by = record::CutBy::kill;
  EXPECT_EQ(ending_of(run).brief, "cut short: ebb was killed");
  EXPECT_TRUE(ending_of(run).text.starts_with("cut short after 90.0 s: ebb itself was killed; how"))
      << ending_of(run).text;
  EXPECT_EQ(*to_json(run).find("cut_by")->as_string(), "kill");
  run.cut_by = record::CutBy::restart;
  EXPECT_EQ(ending_of(run).brief, "cut short: restart");
  EXPECT_NE(ending_of(run).text.find("the machine has been restarted since; how the command ended"),
            std::string::npos)
      << ending_of(run).text;
  EXPECT_EQ(*to_json(run).find("cut_by")->as_string(), "restart");
  run.peak_rss = 0;
  EXPECT_NE(ending_of(run).text.find("it had 3 processes and a peak that is not known"),
            std::string::npos)
      << ending_of(run).text;
  run.state = record::State::running;
  EXPECT_EQ(ending_of(run).text, "still running");
  EXPECT_EQ(ending_of(run).brief, "running");
}

TEST(RunStory, ALongNameKeepsWhatTellsAWorkerApart) {
  ProcessStory process;
  process.process.pid = 7;
  process.name = "simulator /tmp/tmp_qusemrx/fedavg -w /tmp/a/rather/long/path/work";
  EXPECT_TRUE(name_of(process).ends_with("…)")) << name_of(process);
  process.name += ", simulator_server";
  EXPECT_TRUE(name_of(process).starts_with("7 (simulator /tmp/")) << name_of(process);
  EXPECT_TRUE(name_of(process).ends_with("…, simulator_server)")) << name_of(process);
  process.name = "train.py, worker 2";
  EXPECT_EQ(name_of(process), "7 (train.py, worker 2)");
}

TEST(RunStory, APeakThatNobodySawIsNoNumber) {
  record::RunSummary run;
  EXPECT_EQ(text_of(peak_of(run)), "-");
  for (const char* key : {"peak_bytes", "peak_rss_bytes", "peak_process_rss_bytes"})
    EXPECT_TRUE(to_json(run).find(key)->is_null()) << key;
  run.peak_process_rss = 5 << 20;
  EXPECT_EQ(text_of(peak_of(run)), "at least 5.0 MiB");
  EXPECT_EQ(to_json(run).find("peak_bytes")->as_int(), 5 << 20);
  run.run.peak_group = 7 << 20;
  EXPECT_EQ(text_of(peak_of(run)), "7.0 MiB");

  // Ended before it was looked at.
  record::RecordedRun recorded;
  record::ProcessHistory unseen;
  unseen.process.pid = 7;
  recorded.processes.push_back(unseen);
  const base::Json json = report_json(recorded, story_of(recorded));
  const base::Json& process = json.find("processes")->as_array()->at(0);
  for (const char* key : {"peak_rss_bytes", "steady_rss_bytes"})
    EXPECT_TRUE(process.find(key)->is_null()) << key;
}

TEST(RunStory, AThinnedRunHasTheSameVerdict) {
  // Four days at a second each would be 345,600 samples; the record keeps some thousand rows.
  Job job(60'000);
  job.add(7, "a", {rounds(200, 300, 20, 0.01), rounds(150, 290, 20, 0.01), level(20)});
  const record::RecordedRun run = job.recorded();
  ASSERT_LT(run.processes.at(0).readings.size(), 50'000U);
  EXPECT_EQ(story_of(run).diagnosis.verdict, Verdict::leak);
}

TEST(RunStory, ADamagedRecordIsReadWithoutHarm) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  Job job(120);
  const auto key = job.add(7, "a", {level(300), level(270), level(20)});
  job.clean(key, 10, level(300), level(1));
  job.announce_rounds(key, 10);
  job.add_place(level(500), 1000);
  job.write(path);
  auto database = record::open_for_writing(path, 1000);
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->script(
      "INSERT INTO buckets SELECT run, process, ms, ms - 7777777, -3, rss, rss, rss, anon, anon, "
      "anon, 'x', -1, 2, 3, NULL, 4, x'00ff', 5, 6, 7, 8, 9, 9223372036854775807, 1, 1, 1, 1, 1, "
      "-9223372036854775807, 0, 0, 'x', -1, 2, NULL, 3, 4 FROM samples WHERE ms < 60000;"
      "UPDATE samples SET ms = ms + 9000000000000000000 WHERE ms > 100000;"
      "UPDATE samples SET rss = 'much', live = -5, cpu_ms = NULL OR 1 WHERE ms = 3000;"
      "UPDATE actions SET count = 0, returned = -1, what = x'c3' WHERE ms = 20000;"
      "UPDATE place SET permyriad = -9223372036854775807, until = 0, count = -1;"
      "UPDATE rounds SET number = -1, process = 99;"
      "UPDATE processes SET began = 'x', ended = -1, width = -1, pid = 99999999999;"
      "UPDATE runs SET command = '[1,', last = -1, interval = -1, signal = 4444444444, "
      "detail = -77, started = 9223372036854775807"));
  const record::RecordedRun run = record::read(path, "job");
  const RunStory story = story_of(run);
  EXPECT_FALSE(report_json(run, story).text().empty());
  EXPECT_TRUE(run.summary.run.command.empty());
  // And the next run still begins, thins and ends.
  Job(5).write(path);
  EXPECT_EQ(record::integrity(path), "ok");
}

TEST(RunStory, JsonHasDoctorsShape) {
  Job job;
  const auto key = job.add(7, "a", {level(300), level(270), level(20)});
  job.announce_rounds(key, 10);
  job.batch().events.push_back({3, "warn", "85 %", key});
  const record::RecordedRun run = job.recorded();
  const RunStory story = story_of(run);
  const base::Json json = report_json(run, story);
  for (const char* name : {"run", "process", "verdict", "also", "confidence", "headline",
                           "findings", "evidence", "fix", "processes", "cleanups", "events"})
    EXPECT_NE(json.find(name), nullptr) << name;
  for (const char* name : {"live_slope_bytes_per_hour", "retained_bytes", "tree_pss_bytes",
                           "cleanups", "seconds_until_limit"})
    EXPECT_NE(json.find("evidence")->find(name), nullptr) << name;
  EXPECT_TRUE(json.find("process")->is_null()) << "it is about none in particular";
  const base::Json& process = json.find("processes")->as_array()->at(0);
  EXPECT_EQ(process.find("rounds")->as_int(), 39);
  EXPECT_EQ(*process.find("verdict")->as_string(), "healthy");
  EXPECT_EQ(json.find("events")->as_array()->at(0).find("pid")->as_int(), 7);
}

std::uint64_t sum_of(const fact::Ledger& ledger) {
  std::uint64_t sum = 0;
  for (const fact::Ledger::Part& part : ledger.parts())
    sum += part.bytes.value_or(0);
  return sum;
}

TEST(RunStory, APrivateAllocatorIsTheVerdictWhereCleanupsReturnedItsMemory) {
  Job job;
  const auto key = job.add(7, "python3 arrow.py",
                           {rounds(100, 400, 20), level(15), level(2), level(30), level(5)});
  job.clean(key, 20, level(100), level(380));
  fact::PrivateAllocator arrow{"mimalloc", "libarrow.so.2600", "arrow_", true};
  arrow.asked = 19;
  arrow.returned = 7000ULL << 20;
  job.batch().beside.push_back({key, 399, arrow});
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::private_allocator) << story.diagnosis.headline;
  EXPECT_NE(story.diagnosis.fix.text.find("ARROW_DEFAULT_MEMORY_POOL=system"), std::string::npos);
  const ProcessStory& one = story.processes.at(0);
  ASSERT_EQ(one.private_allocators.size(), 1U);
  ASSERT_TRUE(one.ledger.total && one.ledger.live && one.ledger.unexplained);
  EXPECT_EQ(sum_of(one.ledger), *one.ledger.total);
  EXPECT_EQ(one.ledger.file, 30ULL << 20);
  EXPECT_FALSE(one.ledger.private_allocators) << "mimalloc does not count";
}

TEST(RunStory, TheLedgerOfASilentAgentDoesNotShowWhatItSaidLongAgo) {
  const RunStory story = story_of(with_silent_agent(level(100)).recorded());
  const fact::Ledger& ledger = story.processes.at(0).ledger;
  ASSERT_TRUE(ledger.total);
  EXPECT_FALSE(ledger.live || ledger.retained);
  EXPECT_EQ(sum_of(ledger), *ledger.total);
}

}  // namespace
}  // namespace ebb::story
