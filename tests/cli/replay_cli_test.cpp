// SPDX-License-Identifier: Apache-2.0
// `ebb replay` and `ebb tune` as a user runs them, on recordings of real programs.
#include <gtest/gtest.h>

#include <cstring>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/run_ebb.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb {
namespace {

using cli_test::ebb;
using cli_test::json_of;
using support::Finished;

const std::string kRuns = EBB_TEST_DATA "/torch-2.11/runs/";
const std::string kDefault = kRuns + "prefetch_streams.default.pickle.gz";
const std::string kRanOut = kRuns + "prefetch_streams.capexpandable.pickle.gz";

void expect_refused(const Finished& finished, const std::string& part) {
  cli_test::expect_one_line(finished, 2, part);
}

TEST(EbbReplay, PrintsARowForEverySetting) {
  const Finished shown =
      ebb({"replay", kDefault, "--conf", "", "--conf", "expandable_segments:True"});
  EXPECT_EQ(shown.status, 0) << shown.error;
  for (const char* part : {"peak reserved", "(default) *", "expandable_segments:True", "598.0 MiB",
                           "542.0 MiB", "exact"}) {
    EXPECT_NE(shown.output.find(part), std::string::npos) << part;
  }
}

TEST(EbbReplay, PrintsOneJsonObjectWithTheKeysItPromises) {
  const base::Json json = json_of({"replay", kDefault, "--conf", "", "--json"});
  ASSERT_NE(json.find("trace"), nullptr);
  const base::Json::Array& rows = *json.find("rows")->as_array();
  ASSERT_EQ(rows.size(), 1U);
  for (const char* key : {"conf", "peak_reserved_bytes", "peak_allocated_bytes",
                          "final_reserved_bytes", "segment_events", "memory_stats", "oom"}) {
    EXPECT_NE(rows[0].find(key), nullptr) << key;
  }
  EXPECT_EQ(*rows[0].find("peak_reserved_bytes")->as_unsigned(), 627048448U);
  EXPECT_TRUE(rows[0].find("oom")->is_null());
  EXPECT_EQ(*rows[0].find("memory_stats")->find("reserved_bytes.all.peak")->as_int(), 627048448);
}

TEST(EbbReplay, SaysWhereASmallerCardRunsOut) {
  const base::Json json = json_of({"replay", kDefault, "--conf", "", "--cap", "435MiB", "--json"});
  const base::Json& oom = *json.find("rows")->as_array()->front().find("oom");
  ASSERT_FALSE(oom.is_null());
  EXPECT_EQ(*oom.find("requests_before")->as_unsigned(), 84U);
  EXPECT_EQ(*oom.find("recorded")->as_bool(), false);
}

TEST(EbbReplay, RunsUnderAnotherRelease) {
  const base::Json json = json_of({"replay", kDefault, "--torch-version", "2.13.0", "--json"});
  const base::Json& row = json.find("rows")->as_array()->front();
  EXPECT_EQ(*row.find("torch_version")->as_string(), "2.13");
  EXPECT_GT(row.find("memory_stats")->as_object()->size(), 100U);
}

TEST(EbbReplay, RefusesBadInputInOneLine) {
  expect_refused(ebb({"replay", "/no/such/file"}), "/no/such/file");
  expect_refused(ebb({"replay", EBB_TEST_DATA}), EBB_TEST_DATA);
  expect_refused(ebb({"replay", EBB_PROGRAM}), "byte 0");
  expect_refused(ebb({"replay", kDefault, "--conf", "max_split_size_mb:1"}), "max_split_size_mb");
  expect_refused(ebb({"replay", kDefault, "--cap", "lots"}), "--cap 'lots'");
  expect_refused(ebb({"replay", kDefault, "--cap", "0"}), "--cap 0: expected bytes");
  expect_refused(ebb({"replay", kDefault, "--torch-version", "3.0"}), "3.0");
  expect_refused(ebb({"replay", kDefault, "--driver-model", "sideways"}), "sideways");
  expect_refused(ebb({"replay", kDefault, "--device", "3"}), "device 3");
  expect_refused(ebb({"replay", kDefault, "--html", "/no/such/folder/page.html"}), "page.html");
}

TEST(EbbReplay, NeedsAHistoryAndAPickleAsTuneDoes) {
  const std::string data = EBB_TEST_DATA;
  for (const char* verb : {"replay", "tune"}) {
    for (const char* file : {"/torch-2.11/untraced/ctx2.pickle.gz",
                             "/torch-2.11/untraced/prefetch_streams.pickle.gz"}) {
      expect_refused(ebb({verb, data + file}),
                     "torch.cuda.memory._record_memory_history(max_entries=1000000)");
    }
    expect_refused(ebb({verb, data + "/interface/runs.db"}),
                   "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")");
  }
}

TEST(EbbTune, PrintsALineToPaste) {
  const Finished shown = ebb({"tune", kDefault});
  EXPECT_EQ(shown.status, 0) << shown.error;
  EXPECT_TRUE(shown.output.starts_with("export PYTORCH_ALLOC_CONF=expandable_segments:True"))
      << shown.output;
  const Finished older = ebb({"tune", kDefault, "--torch-version", "2.9"});
  EXPECT_TRUE(older.output.starts_with("export PYTORCH_CUDA_ALLOC_CONF=")) << older.output;
}

TEST(EbbTune, PrintsOneJsonObjectWithTheKeysItPromises) {
  const base::Json json = json_of({"tune", kDefault, "--json"});
  for (const char* key : {"best", "rows", "recorded", "lower_bound_bytes", "offline_packing_bytes",
                          "variable", "futures", "later", "later_by_default", "later_as_recorded",
                          "later_live_bytes", "regret", "growth"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
  EXPECT_EQ(*json.find("lower_bound_bytes")->as_unsigned(), 468076032U);
  // 542 MiB are held by plain expandable segments; pages of 16 hold 4 more here, and less later.
  EXPECT_LE(*json.find("best")->find("peak_reserved_bytes")->as_unsigned(), 572522496U);
}

TEST(EbbTune, FitsWhatWasRecordedWhenThatIsAskedFor) {
  const base::Json json = json_of({"tune", kDefault, "--json", "--quick"});
  EXPECT_EQ(json.find("futures"), nullptr);
  EXPECT_LT(*json.find("best")->find("peak_reserved_bytes")->as_unsigned(), 568328192U);
  const Finished shown = ebb({"tune", kDefault, "--quick"});
  EXPECT_NE(shown.output.find("how the job goes on was not looked at"), std::string::npos);
}

TEST(EbbTune, LeavesOutSettingsThatCannotBeUsed) {
  const base::Json json =
      json_of({"tune", kDefault, "--json", "--quick", "--without", "expandable_segments"});
  EXPECT_EQ(json.find("best")->find("conf")->as_string()->find("expandable"), std::string::npos);
  expect_refused(ebb({"tune", kDefault, "--without", "glory"}), "setting 'glory'");
}

TEST(EbbTune, FindsSettingsUnderWhichAFailedJobRuns) {
  const base::Json json = json_of({"tune", kRanOut, "--json"});
  EXPECT_FALSE(json.find("recorded")->find("oom")->is_null());
  EXPECT_TRUE(json.find("best")->find("oom")->is_null());
}

TEST(EbbTune, NamesTheSmallestCardUnderALimit) {
  const base::Json json = json_of({"tune", kDefault, "--cap", "600MiB", "--json"});
  const base::Json* card = json.find("card");
  ASSERT_NE(card, nullptr);
  const std::uint64_t roomy = *card->find("without_retries_bytes")->as_unsigned();
  EXPECT_GE(roomy, *json.find("best")->find("peak_reserved_bytes")->as_unsigned());
  EXPECT_LE(*card->find("with_retries_bytes")->as_unsigned(), roomy);
  const Finished shown = ebb({"tune", kDefault, "--cap", "600MiB"});
  EXPECT_NE(shown.output.find("smallest card"), std::string::npos);
  EXPECT_EQ(json_of({"tune", kDefault, "--json"}).find("card"), nullptr);
}

TEST(EbbTune, DoesNotJudgeWhatRunsOutOfMemoryAsIfItHadRun) {
  const std::string file = kRuns + "prefetch_streams.capgc60.pickle.gz";
  const base::Json json = json_of({"tune", file, "--cap", "400MiB", "--json"});
  const base::Json& later = *json.find("later_as_recorded");
  EXPECT_EQ(later.find("out_of_memory_futures")->text(), later.find("futures")->text());
  EXPECT_TRUE(later.find("over_live")->is_null());
  EXPECT_TRUE(later.find("growth")->is_null());
  const Finished shown = ebb({"tune", file, "--cap", "400MiB"});
  const std::size_t from = shown.output.find("as recorded");
  ASSERT_NE(from, std::string::npos) << shown.output;
  const std::string line = shown.output.substr(from, shown.output.find('\n', from) - from);
  EXPECT_NE(line.find("out of memory"), std::string::npos) << line;
  for (const char* wrong : {"times what is live", "still grows", "stands still"})
    EXPECT_EQ(line.find(wrong), std::string::npos) << line;
  EXPECT_EQ(shown.output.find("none: memory still grows"), std::string::npos) << shown.output;
}

TEST(EbbTune, TakesSeveralSnapshots) {
  const base::Json json = json_of({"tune", kDefault, kRanOut, "--json"});
  ASSERT_NE(json.find("jobs"), nullptr);
  const base::Json::Array& jobs = *json.find("jobs")->as_array();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(*jobs[0].find("best")->find("conf")->as_string(),
            *jobs[1].find("best")->find("conf")->as_string());
  expect_refused(ebb({"tune", kDefault, "--objective", "glory"}), "glory");
}

TEST(EbbTuneAndDoctor, ForetellTheSame) {
  int grow = 0;
  const std::string file = kRuns + "prefetch_streams.cap.pickle.gz";
  using Words = std::vector<std::string>;
  for (const Words& options : {Words{}, {"--cap", "600MiB"}, {"--torch-version", "2.13"}}) {
    SCOPED_TRACE(testing::PrintToString(options));
    const auto asked = [&](const char* verb, const Words& more) {
      Words words = {verb, file};
      words.insert(words.end(), options.begin(), options.end());
      words.insert(words.end(), more.begin(), more.end());
      return words;
    };
    const base::Json tuned = json_of(asked("tune", {"--json"}));
    const base::Json diagnosis = json_of(asked("doctor", {"--json"}));
    const base::Json& later = *tuned.find("later_as_recorded");
    const base::Json& growth = *diagnosis.find("growth");
    if (growth.is_null()) continue;
    ++grow;
    EXPECT_EQ(growth.find("to_bytes")->text(), later.find("median_bytes")->text());
    EXPECT_EQ(growth.find("worst_bytes")->text(), later.find("worst_bytes")->text());
    EXPECT_EQ(growth.find("futures")->text(), later.find("futures")->text());
    for (const auto& [key, value] : *later.find("growth")->as_object())
      EXPECT_EQ(growth.find(key)->text(), value.text()) << key;
    if (later.find("growth")->find("stops_after_steps") == nullptr) continue;
    const std::string still =
        "stands still after " + later.find("growth")->find("stops_after_steps")->text() + " steps";
    const std::string most =
        base::bytes_text(*growth.find("worst_bytes")->as_unsigned()) + " at the most";
    for (const char* verb : {"tune", "doctor"}) {
      const Finished shown = ebb(asked(verb, {}));
      EXPECT_NE(shown.output.find(still), std::string::npos) << verb << shown.output;
      EXPECT_NE(shown.output.find(most), std::string::npos) << verb << shown.output;
    }
  }
  EXPECT_GE(grow, 2);
}

TEST(SnapshotPages, AreOneFileThatLoadsNothing) {
  const support::TemporaryDirectory directory;
  for (const char* verb : {"replay", "tune", "doctor"}) {
    const std::string page = directory / (std::string(verb) + ".html");
    const Finished shown = ebb({verb, kRanOut, "--html", page});
    EXPECT_EQ(shown.status, 0) << shown.error;
    const auto text = base::read_file(page);
    ASSERT_TRUE(text) << page;
    EXPECT_EQ(text->find("src=\"http"), std::string::npos);
    EXPECT_EQ(text->find("href=\"http"), std::string::npos);
    EXPECT_NE(text->find("Content-Security-Policy"), std::string::npos);
    EXPECT_NE(text->find("prefetch_streams.capexpandable"), std::string::npos);
  }
}

TEST(SnapshotPages, OfTuningSayWhatTheTextSays) {
  const support::TemporaryDirectory directory;
  const std::string page = directory / "tune.html";
  const Finished shown = ebb({"tune", kDefault, "--html", page});
  const auto text = base::read_file(page);
  ASSERT_TRUE(text);
  for (const char* label : {"lower bound", "offline packing", "later", "futures", "regret"}) {
    const std::size_t from = shown.output.find("\n" + std::string(label) + " ");
    ASSERT_NE(from, std::string::npos) << label << shown.output;
    const std::size_t begin = shown.output.find_first_not_of(' ', from + 1 + std::strlen(label));
    const std::string words = shown.output.substr(begin, shown.output.find('\n', begin) - begin);
    EXPECT_NE(text->find(words), std::string::npos) << words;
  }
  EXPECT_NE(text->find(" settings replayed"), std::string::npos);
}

}  // namespace
}  // namespace ebb
