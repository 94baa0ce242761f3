// SPDX-License-Identifier: Apache-2.0
// ebb runs, ebb report and ebb doctor RUN on records whose runs are known.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "record/database.h"
#include "story/job.h"
#include "support/subprocess.h"

namespace ebb {
namespace {

using story::growing;
using story::Job;
using story::level;
using story::rounds;
using support::Finished;

/// A record with three runs: train (1), leaky (2), killed (3).
class EbbReport : public testing::Test {
 protected:
  EbbReport() : db_(folder_ / "runs.db") {
    Job train;
    train.run().name = "train";
    const auto key =
        train.add(41, "python3 train.py", {rounds(200, 400, 20), level(150), rounds(10, 390, 20)});
    train.add(42, "worker", {level(60), level(50), level(2)});
    train.clean(key, 20, level(200), level(390));
    train.announce_rounds(key, 20);
    train.batch().events.push_back({30, "warn", "85 % of the limit", key});
    train.write(db_);
    Job leaky;
    leaky.run().name = "leaky";
    leaky.add(43, "./leaky", {growing(100, 0.5), growing(90, 0.5), level(5)});
    leaky.add_place(growing(500, 0.5), 2000);
    leaky.write(db_);
    Job killed(30);
    killed.run().name = "killed";
    killed.run().ending = fact::RunEnd::out_of_memory;
    killed.run().signal = 9;
    killed.add(44, "./killed", {level(50)});
    killed.write(db_);
  }

  Finished ebb(std::vector<std::string> words) const {
    words.insert(words.begin(), EBB_PROGRAM);
    words.insert(words.end(), {"--db", db_});
    return support::run(words);
  }

  base::Json json_of(std::vector<std::string> words, int status = 0) const {
    words.emplace_back("--json");
    const Finished finished = ebb(std::move(words));
    EXPECT_EQ(finished.status, status) << finished.error;
    auto json = base::parse_json(finished.output);
    EXPECT_TRUE(json) << finished.output;
    return json ? *std::move(json) : base::Json();
  }

  std::size_t count() const { return json_of({"runs"}).find("runs")->as_array()->size(); }

  support::TemporaryDirectory folder_;
  std::string db_;
};

void expect_refused(const Finished& finished, const std::string& part, int status = 2) {
  EXPECT_EQ(finished.status, status) << finished.error;
  EXPECT_EQ(finished.output, "");
  EXPECT_TRUE(finished.error.starts_with("ebb: ")) << finished.error;
  EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
  EXPECT_NE(finished.error.find(part), std::string::npos) << finished.error;
}

TEST_F(EbbReport, RunsAreListedInATableThatLinesUp) {
  const Finished shown = ebb({"runs"});
  EXPECT_EQ(shown.status, 0) << shown.error;
  EXPECT_NE(shown.output.find("id  name    started"), std::string::npos) << shown.output;
  const std::size_t killed = shown.output.find(" 3  killed");
  const std::size_t train = shown.output.find(" 1  train");
  EXPECT_LT(killed, train) << "the newest first\n" << shown.output;
  EXPECT_NE(shown.output.find("out of memory"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("640.5 MiB"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST_F(EbbReport, ASampledPeakIsCalledAtLeastAndThatOfTheGroupIsNot) {
  Job grouped(60);
  grouped.run().name = "grouped";
  grouped.add(51, "./grouped", {level(100), level(90), level(1)});
  for (record::Sample& sample : grouped.batch().samples)
    sample.peak_rss = 333 << 20;
  grouped.run().peak_group = 777 << 20;
  grouped.write(db_);
  const Finished runs = ebb({"runs"});
  EXPECT_NE(runs.output.find("at least 640.5 MiB"), std::string::npos) << runs.output;
  EXPECT_NE(runs.output.find("    777.0 MiB"), std::string::npos) << runs.output;
  const Finished report = ebb({"report", "grouped"});
  EXPECT_NE(
      report.output.find("peak       777.0 MiB of its control group, file cache included; rss "
                         "at least 333.0 MiB of all processes together, 333.0 MiB of one"),
      std::string::npos)
      << report.output;
  const base::Json json = json_of({"report", "grouped"});
  EXPECT_EQ(json.find("run")->find("peak_bytes")->as_int(), 777 << 20);
  EXPECT_EQ(*json.find("run")->find("peak_source")->as_string(), "cgroup");
  EXPECT_EQ(json.find("run")->find("peak_at_least")->as_bool(), false);
  EXPECT_EQ(json.find("processes")->as_array()->at(0).find("peak_rss_bytes")->as_int(), 333 << 20);
  const base::Json sampled = json_of({"report", "train"});
  EXPECT_EQ(*sampled.find("run")->find("peak_source")->as_string(), "samples");
  EXPECT_EQ(sampled.find("run")->find("peak_at_least")->as_bool(), true);
  ASSERT_EQ(ebb({"report", "grouped", "--html", folder_ / "grouped.html"}).status, 0);
  const std::string page = base::read_file(folder_ / "grouped.html", 64 << 20).value_or("");
  EXPECT_NE(page.find("peak of its control group"), std::string::npos);
}

TEST_F(EbbReport, RowsShowWhatTellsProcessesApart) {
  Job job(60);
  job.run().name = "sites";
  const std::string worker =
      "/opt/bin/python3 -m nvflare.private.fed.app.simulator.simulator_worker ";
  job.add(61, "/opt/bin/python3 /opt/bin/nvflare simulator job", {level(300)});
  for (int site = 1; site <= 2; ++site) {
    job.add(61 + site, worker + "-o /tmp/w --client site-" + std::to_string(site) + " --port 80",
            {level(200)});
  }
  for (int i = 0; i < 2; ++i) {  // forked by site-2
    job.add(64 + i, worker + "-o /tmp/w --client site-2 --port 80", {level(250)});
    job.batch().processes.back().parent = 63;
  }
  job.write(db_);
  const std::string shown = ebb({"report", "sites"}).output;
  EXPECT_NE(shown.find("62  simulator_worker site-1 "), shown.npos) << shown;
  std::size_t last = 0;
  for (const char* row : {"61  nvflare simulator job ", "63  simulator_worker site-2 ",
                          "64    worker 1 ", "65    worker 2 "}) {
    const std::size_t at = shown.find(row);
    ASSERT_NE(at, shown.npos) << row << "\n" << shown;
    EXPECT_GT(at, last) << row << "\n" << shown;
    last = at;
  }
  EXPECT_EQ(shown.find("/opt/bin/python3"), shown.npos) << shown;
  const base::Json json = json_of({"report", "sites"});
  std::set<std::string> names;
  for (const base::Json& process : *json.find("processes")->as_array())
    names.insert(*process.find("name")->as_string());
  EXPECT_EQ(names.size(), 5U) << json.text();
  EXPECT_EQ(names.count("simulator_worker site-2, worker 1"), 1U);
}

TEST_F(EbbReport, RunsAreListedAsJson) {
  const base::Json json = json_of({"runs"});
  EXPECT_EQ(*json.find("db")->as_string(), db_);
  const base::Json& run = json.find("runs")->as_array()->at(0);
  EXPECT_EQ(run.find("id")->as_int(), 3);
  EXPECT_EQ(*run.find("state")->as_string(), "ended");
  EXPECT_EQ(*run.find("ending")->as_string(), "out_of_memory");
  EXPECT_EQ(run.find("signal")->as_int(), 9);
  EXPECT_TRUE(run.find("exit_code")->is_null());
  EXPECT_EQ(run.find("command")->as_array()->size(), 4U);
}

TEST_F(EbbReport, RunsAreRemovedByNumberNameAgeOrAll) {
  EXPECT_EQ(support::run({EBB_PROGRAM, "runs", "--db", db_, "rm", "2"}).output, "removed 1 run\n")
      << "wherever the record is named";
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(json_of({"runs", "rm", "killed"}).find("removed")->as_array()->at(0).as_int(), 3);
  Job now(5);
  now.run().started =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
      100;
  now.run().name = "now";
  now.write(db_);
  EXPECT_EQ(ebb({"runs", "rm", "--older-than", "30d"}).output, "removed 1 run\n");
  EXPECT_EQ(count(), 1U);
  EXPECT_EQ(ebb({"runs", "rm", "--all"}).output, "removed 1 run\n");
  EXPECT_EQ(ebb({"runs"}).output, "no runs are recorded in " + db_ + "\n");
}

TEST_F(EbbReport, ARunThatGoesOnIsShownAndCannotBeRemoved) {
  const auto writer = record::begin(db_, record::run_named("now"));
  EXPECT_EQ(*json_of({"runs"}).find("runs")->as_array()->at(0).find("state")->as_string(),
            "running");
  expect_refused(ebb({"runs", "rm", "now"}), "still running");
  EXPECT_EQ(ebb({"report", "now"}).status, 0);
  EXPECT_EQ(ebb({"runs", "rm", "--all"}).output, "removed 3 runs\n");
  EXPECT_EQ(count(), 1U);
}

TEST_F(EbbReport, TellsTheVerdictFirstAndThenTheProcesses) {
  const Finished shown = ebb({"report", "train"});
  EXPECT_EQ(shown.status, 0) << shown.error;
  const std::size_t verdict = shown.output.find("verdict    retention (confidence high)");
  const std::size_t table = shown.output.find("pid  command");
  ASSERT_NE(verdict, std::string::npos) << shown.output;
  EXPECT_LT(verdict, table) << shown.output;
  for (const char* part :
       {"process 41 (train.py): the allocator keeps what is freed: 19 cleanups returned "
        "7.2 GiB",
        "cleanups   19 returned 7.2 GiB, took 380 ms (0.10 % of the time)", "worker", "healthy",
        "30.0 s  warn      41: 85 % of the limit", "█"})
    EXPECT_NE(shown.output.find(part), std::string::npos) << part << "\n" << shown.output;
}

TEST_F(EbbReport, PrintsOneJsonObject) {
  const base::Json json = json_of({"report", "train"});
  EXPECT_EQ(*json.find("verdict")->as_string(), "retention");
  EXPECT_EQ(json.find("process")->find("pid")->as_int(), 41);
  EXPECT_EQ(json.find("processes")->as_array()->size(), 2U);
  EXPECT_EQ(json.find("cleanups")->find("count")->as_int(), 19);
  EXPECT_EQ(*json_of({"report"}).find("run")->find("name")->as_string(), "killed")
      << "the newest where none is named";
}

TEST_F(EbbReport, WritesAPage) {
  const std::string path = folder_ / "train.html";
  const Finished written = ebb({"report", "train", "--html", path});
  EXPECT_EQ(written.status, 0) << written.error;
  EXPECT_EQ(written.error, "wrote " + path + "\n");
  std::ifstream file(path);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const char* part : {"Run 1: train", "cleanup −390.0 MiB", "round 1, ", "\"retained\"",
                           "Process 41 (train.py)", "Content-Security-Policy"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  expect_refused(ebb({"report", "train", "--html", folder_ / "none/x.html"}), "x.html", 2);
}

TEST_F(EbbReport, DoctorGivesTheVerdictOfARun) {
  const base::Json leak = json_of({"doctor", "leaky"});
  EXPECT_EQ(*leak.find("verdict")->as_string(), "leak");
  EXPECT_EQ(*leak.find("confidence")->as_string(), "high");
  const double truth = 0.5 * 1048576 * 3600;
  EXPECT_NEAR(leak.find("evidence")->find("live_slope_bytes_per_hour")->as_double().value(), truth,
              0.05 * truth);
  EXPECT_TRUE(leak.find("evidence")->find("seconds_until_limit")->is_object());
  EXPECT_EQ(leak.find("run")->find("id")->as_int(), 2);
  const Finished shown = ebb({"doctor", "last"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_NE(shown.output.find("- out of memory: the kernel killed it after"), std::string::npos)
      << shown.output;
}

TEST_F(EbbReport, DoctorFailsOnTheVerdictItIsTold) {
  EXPECT_EQ(ebb({"doctor", "leaky", "--fail-on", "leak"}).status, 1);
  EXPECT_EQ(ebb({"doctor", "leaky", "--fail-on", "retention"}).status, 0);
  expect_refused(ebb({"doctor", "leaky", "--fail-on", "leek"}), "--fail-on 'leek'");
  expect_refused(ebb({"doctor", "leaky", "--against", "train"}), "--against is for snapshots");
  expect_refused(ebb({"doctor", "leaky", "--pprof", folder_ / "profile"}), "has no sites");
}

TEST_F(EbbReport, WhatIsNotThereIsOneLine) {
  expect_refused(ebb({"report", "nope"}), "no run 'nope' in ");
  expect_refused(ebb({"doctor", "nope"}), "no file of that name");
  expect_refused(ebb({"runs", "rm", "nope"}), "no run 'nope'");
  expect_refused(ebb({"runs", "rm"}), "expected either runs, or --older-than, or --all");
  expect_refused(ebb({"runs", "rm", "1", "--all"}), "expected either");
  expect_refused(ebb({"runs", "rm", "--older-than", "soon"}), "'soon' is no duration");
  expect_refused(ebb({"runs", "rm", "1", "77"}), "no run '77'");
  EXPECT_EQ(count(), 3U) << "nothing was removed";
  expect_refused(ebb({"runs", "--nonsense"}), "--nonsense");
  expect_refused(support::run({EBB_PROGRAM, "runs", "--db", folder_ / "none.db"}), "none.db");
  const std::string garbage = folder_.write("garbage.db", std::string(5000, 'x'));
  expect_refused(support::run({EBB_PROGRAM, "runs", "--db", garbage}), "garbage.db");
  expect_refused(support::run({EBB_PROGRAM, "doctor", folder_ / "none.pickle"}), "none.pickle");
}

TEST_F(EbbReport, ANumberBesideARecordIsThatOfARun) {
  const base::Json leak = json_of({"doctor", "2"});
  ASSERT_NE(leak.find("run"), nullptr);
  EXPECT_EQ(*leak.find("run")->find("name")->as_string(), "leaky");
  expect_refused(ebb({"doctor", "77"}), "no run '77'");
}

TEST_F(EbbReport, ANumberThatIsNoProcessButARunSaysHowToAskForIt) {
  const std::string state = folder_ / "state/ebb/runs.db";
  std::filesystem::create_directories(folder_ / "state/ebb");
  std::filesystem::copy_file(db_, state);
  constexpr const char* kNoProcess = "2147483646";
  {
    auto database = record::Database::open(state, record::Database::Mode::write, 5000);
    ASSERT_TRUE(database && database->script("UPDATE runs SET id = 2147483646 WHERE id = 2"));
  }
  const support::Subprocess::Environment home{{"XDG_STATE_HOME", folder_ / "state"}};
  const Finished asked = support::run({EBB_PROGRAM, "doctor", kNoProcess}, home);
  expect_refused(asked, "; for run 2147483646: ebb doctor 2147483646 --db " + state);
  EXPECT_EQ(support::run({EBB_PROGRAM, "doctor", kNoProcess, "--db", state}).status, 0);
  const Finished other = support::run({EBB_PROGRAM, "doctor", "2147483645"}, home);
  expect_refused(other, "2147483645");
  EXPECT_EQ(other.error.find("--db"), std::string::npos) << other.error;
}

TEST_F(EbbReport, TheDefaultPlaceMayBeEmpty) {
  const support::Subprocess::Environment home{{"XDG_STATE_HOME", folder_ / "state"}};
  const Finished shown = support::run({EBB_PROGRAM, "runs"}, home);
  EXPECT_EQ(shown.status, 0) << shown.error;
  EXPECT_EQ(shown.output, "no runs are recorded in " + (folder_ / "state/ebb/runs.db") + "\n");
  expect_refused(support::run({EBB_PROGRAM, "report"}, home), "nothing is recorded in");
}

}  // namespace
}  // namespace ebb
