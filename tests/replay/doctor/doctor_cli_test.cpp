// SPDX-License-Identifier: Apache-2.0
// ebb doctor, run as a user runs it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "replay/doctor/doctor_patient.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::replay {
namespace {

using support::Finished;

Finished doctor(std::vector<std::string> words) {
  words.insert(words.begin(), {EBB_PROGRAM, "doctor"});
  return support::run(words, {});
}

std::string recorded(const std::string& file) {
  return std::string(EBB_TEST_DATA) + "/torch-2.11/" + file;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EbbDoctor : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }
  std::string write(const std::string& name, Patient& job) const {
    return folder_.write(name, job.pickle());
  }

  support::TemporaryDirectory folder_;
};

void expect_one_line(const Finished& finished, const std::string& part) {
  EXPECT_EQ(finished.status, 2) << finished.error;
  EXPECT_EQ(finished.output, "");
  EXPECT_TRUE(finished.error.starts_with("ebb: ")) << finished.error;
  EXPECT_EQ(finished.error.find('\n'), finished.error.size() - 1) << finished.error;
  EXPECT_NE(finished.error.find(part), std::string::npos) << finished.error;
}

base::Json json_of(const Finished& finished) {
  auto json = base::parse_json(finished.output);
  EXPECT_TRUE(json) << finished.error;
  return json ? std::move(*json) : base::Json();
}

TEST_F(EbbDoctor, TellsTheVerdictTheFixAndWhoHoldsTheMemory) {
  const Finished told =
      doctor({recorded("runs/gpt2_varlen.captight.pickle.gz"), "--cap", "12587158533"});
  ASSERT_EQ(told.status, 0) << told.error;
  for (const char* part :
       {"verdict     fragmentation (confidence high)", "also        self_limit",
        "fix         With PYTORCH_ALLOC_CONF=expandable_segments:True", "allocated at"}) {
    EXPECT_NE(told.output.find(part), std::string::npos) << part << "\n" << told.output;
  }
  EXPECT_EQ(told.output.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST_F(EbbDoctor, PrintsOneJsonObject) {
  const base::Json json = json_of(
      doctor({recorded("runs/gpt2_varlen.captight.pickle.gz"), "--cap", "12587158533", "--json"}));
  for (const char* key : {"verdict", "also", "confidence", "headline", "findings", "evidence",
                          "fix", "limit_bytes", "ledger", "origins", "trace"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
  EXPECT_EQ(*json.find("verdict")->as_string(), "fragmentation");
  EXPECT_EQ(*json.find("fix")->find("conf")->as_string(), "expandable_segments:True");
  EXPECT_EQ(json.find("limit_bytes")->as_unsigned(), 12587158533U);
}

TEST_F(EbbDoctor, ShowsFramesWhereTheyWereRecorded) {
  const Finished told =
      doctor({recorded("frames/prefetch_streams.default.pickle.gz"), "--cap", "400MiB"});
  ASSERT_EQ(told.status, 0) << told.error;
  EXPECT_NE(told.output.find("verdict     capacity"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find(".py:"), std::string::npos) << told.output;
}

TEST_F(EbbDoctor, NamesTheLinesThatHoldTheMemory) {
  const std::string file = recorded("frames/prefetch_streams.default.pickle.gz");
  const Finished told = doctor({file});
  ASSERT_EQ(told.status, 0) << told.error;
  for (const char* part :
       {"\nheld by          161.0 MiB        37 %  collect.py:110 prefetch_streams < "
        "collect.py:197 one < collect.py:249 <module>, since ",
        "collect.py:103 prefetch_streams (in module.py:1097 <lambda>)",
        "\nlive        432.1 MiB in 24 blocks at the peak; 191.4 MiB in 7 blocks without a "
        "stack\n"})
    EXPECT_NE(told.output.find(part), std::string::npos) << part << "\n" << told.output;
  EXPECT_EQ(told.output.find("grew by"), std::string::npos) << told.output;

  const base::Json json = json_of(doctor({file, "--json"}));
  const base::Json& first = json.find("sites")->as_array()->front();
  EXPECT_EQ(*first.find("place")->as_string(), "collect.py:110 prefetch_streams");
  EXPECT_EQ(first.find("bytes")->as_unsigned(), 168870912U);
  const base::Json& call = first.find("frames")->as_array()->front();
  EXPECT_EQ(*call.find("function")->as_string(), "prefetch_streams");
  EXPECT_EQ(*call.find("file")->as_string(), "collect.py");
  EXPECT_EQ(call.find("line")->as_unsigned(), 110U);
  EXPECT_EQ(*json.find("live")->find("at")->as_string(), "peak");
  EXPECT_EQ(json.find("live")->find("no_stack_blocks")->as_unsigned(), 7U);
  EXPECT_TRUE(json_of(doctor({recorded("runs/prefetch_streams.cap.pickle.gz"), "--json"}))
                  .find("sites")
                  ->is_null());
}

TEST_F(EbbDoctor, WritesWhoHoldsItForOtherTools) {
  const std::string file = recorded("frames/prefetch_streams.default.pickle.gz");
  const std::string stacks = folder_ / "stacks.txt";
  const std::string profile = folder_ / "profile.gz";
  const std::string page = folder_ / "page.html";
  const Finished told = doctor({file, "--collapsed", stacks, "--pprof", profile, "--html", page});
  ASSERT_EQ(told.status, 0) << told.error;
  std::uint64_t bytes = 0;
  std::ifstream lines(stacks);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with("collect.py:249 <module>;collect.py:197 one;")) << line;
    bytes += std::stoull(line.substr(line.rfind(' ') + 1));
  }
  const base::Json json = json_of(doctor({file, "--json"}));
  const std::uint64_t with_stack = *json.find("live")->find("bytes")->as_unsigned() -
                                   *json.find("live")->find("no_stack_bytes")->as_unsigned();
  EXPECT_LE(bytes, with_stack);
  EXPECT_GE(bytes, with_stack - with_stack / 1000) << "but for what nobody would see";
  EXPECT_TRUE(bytes_of(profile).starts_with("\x1F\x8B"));
  EXPECT_NE(bytes_of(page).find("Who holds it"), std::string::npos);

  const std::string without = recorded("runs/prefetch_streams.default.pickle.gz");
  expect_one_line(doctor({without, "--collapsed", stacks}), "no stacks were recorded");
  expect_one_line(doctor({file, "--against", without, "--pprof", profile}), "--pprof");
  expect_one_line(doctor({write("stats.json", "{}"), "--pprof", profile}), "--pprof");
}

TEST_F(EbbDoctor, TellsEveryDevice) {
  device::SimOptions cards;
  cards.devices = 2;
  Patient job({.limit = kGiB, .device = cards});
  job.take(100 * kMiB);
  EXPECT_NE(job.core(1).allocate(900 * kMiB, 0), 0U);
  EXPECT_EQ(job.core(1).allocate(200 * kMiB, 0), 0U);
  const std::string file = write("two.pickle", job);
  const base::Json json = json_of(doctor({file, "--cap", "1GiB", "--json"}));
  ASSERT_NE(json.find("jobs"), nullptr);
  const base::Json::Array& jobs = *json.find("jobs")->as_array();
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(*jobs[0].find("verdict")->as_string(), "healthy");
  EXPECT_EQ(*jobs[1].find("verdict")->as_string(), "capacity");
  EXPECT_EQ(*json_of(doctor({file, "--cap", "1GiB", "--device", "1", "--json"}))
                 .find("verdict")
                 ->as_string(),
            "capacity");
  EXPECT_EQ(doctor({file, "--cap", "1GiB", "--fail-on", "capacity"}).status, 1);
  expect_one_line(doctor({file, "--device", "2"}), "device 2");
}

TEST_F(EbbDoctor, SeveralPagesNeedTheNameOfAFile) {
  device::SimOptions cards;
  cards.devices = 2;
  Patient job({.limit = kGiB, .device = cards});
  job.take(100 * kMiB);
  EXPECT_NE(job.core(1).allocate(100 * kMiB, 0), 0U);
  const std::string file = write("two.pickle", job);
  const std::string page = folder_ / "page";
  for (const char* place : {"/proc/self/fd/1", "/dev/null"}) {
    ASSERT_EQ(::symlink(place, page.c_str()), 0);
    expect_one_line(doctor({file, "--html", page}), "page': 2 pages, one for each device");
    EXPECT_FALSE(std::filesystem::exists(page + "-0.html"));
    EXPECT_EQ(doctor({file, "--html", page, "--device", "1"}).status, 0);
    std::filesystem::remove(page);
  }
  expect_one_line(doctor({file, "--html", folder_.path()}), "expected the name of a file");
  EXPECT_EQ(doctor({file, "--html", page + ".html"}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(page + "-0.html"));
  EXPECT_TRUE(std::filesystem::exists(page + "-1.html"));
}

TEST_F(EbbDoctor, FailsOnTheVerdictThatIsAskedForAndOnNoOther) {
  const std::string file = recorded("runs/gpt2_varlen.captight.pickle.gz");
  EXPECT_EQ(doctor({file, "--cap", "12587158533", "--fail-on", "fragmentation"}).status, 1);
  EXPECT_EQ(doctor({file, "--cap", "12587158533", "--fail-on", "self_limit"}).status, 1);
  EXPECT_EQ(doctor({file, "--cap", "12587158533", "--fail-on", "leak"}).status, 0);
}

TEST_F(EbbDoctor, NamesWhatGrewAgainstAnotherSnapshotWithFrames) {
  Patient nothing;
  nothing.give(nothing.take(kMiB));
  const std::string before = write("before.pickle", nothing);
  const std::string now = recorded("frames/prefetch_streams.default.pickle.gz");
  const Finished told = doctor({now, "--against", before, "--fail-on", "leak"});
  EXPECT_EQ(told.status, 1) << told.error;
  EXPECT_NE(told.output.find("verdict     leak"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find(".py:"), std::string::npos) << told.output;

  const base::Json json = json_of(doctor({now, "--against", before, "--json"}));
  for (const char* key : {"verdict", "also", "confidence", "headline", "evidence", "fix"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
  const base::Json& evidence = *json.find("evidence");
  EXPECT_EQ(*evidence.find("kind")->as_string(), "comparison");
  const base::Json::Array& changes = *evidence.find("changes")->as_array();
  ASSERT_FALSE(changes.empty());
  EXPECT_GT(changes[0].find("growth_bytes")->as_int(), 0);
  EXPECT_NE(changes[0].find("frames")->as_array()->front().as_string()->find(".py:"),
            std::string::npos);
}

TEST_F(EbbDoctor, FindsNoGrowthAgainstItselfOrAgainstMore) {
  const std::string now = recorded("frames/prefetch_streams.default.pickle.gz");
  EXPECT_EQ(doctor({now, "--against", now, "--fail-on", "leak"}).status, 0);
  Patient nothing;
  nothing.give(nothing.take(kMiB));
  const std::string less = write("less.pickle", nothing);
  EXPECT_EQ(doctor({less, "--against", now, "--fail-on", "leak"}).status, 0);
}

constexpr const char* kStats = R"({"allocated_bytes.all.current": 104857600,
  "allocated_bytes.all.peak": 209715200, "reserved_bytes.all.current": 209715200,
  "reserved_bytes.all.peak": 209715200, "active_bytes.all.current": 104857600,
  "inactive_split_bytes.all.current": 83886080, "num_alloc_retries": 3, "num_ooms": 0})";

TEST_F(EbbDoctor, TellsTheVerdictOnMemoryStats) {
  const std::string file = write("stats.json", kStats);
  const Finished told = doctor({file});
  ASSERT_EQ(told.status, 0) << told.error;
  for (const char* part : {"utilization", "50.0 %", "80.0 MiB", "verdict     fragmentation",
                           "retries: 3", "expandable_segments:True"})
    EXPECT_NE(told.output.find(part), std::string::npos) << part << told.output;
  const base::Json json = json_of(doctor({file, "--json"}));
  EXPECT_EQ(*json.find("verdict")->as_string(), "fragmentation");
  EXPECT_EQ(*json.find("evidence")->find("kind")->as_string(), "stats");
  EXPECT_EQ(json.find("evidence")->find("retries")->as_unsigned(), 3U);
  EXPECT_EQ(doctor({file, "--fail-on", "fragmentation"}).status, 1);
  EXPECT_EQ(doctor({file, "--fail-on", "leak"}).status, 0);
}

TEST_F(EbbDoctor, StatsThatAreNoneGetOneLine) {
  const std::string file = write("stats.json", kStats);
  expect_one_line(doctor({file, "--html", folder_ / "page.html"}), "--html");
  expect_one_line(doctor({file, "--against", file}), "--against");
  expect_one_line(doctor({write("other.json", R"({"a": 1})")}), "torch.cuda.memory_stats()");
  expect_one_line(doctor({write("broken.json", "{")}), "broken.json: JSON at offset");
}

TEST_F(EbbDoctor, FindsEmptyCacheInTheInnerLoop) {
  Patient job;
  job.take(200 * kMiB);
  for (int i = 0; i < 8; ++i) {
    job.give(job.take(150 * kMiB));
    ASSERT_TRUE(job.core().empty_cache());
  }
  const std::string file = write("loop.pickle", job);
  const Finished told = doctor({file, "--cap", "80GiB", "--fail-on", "empty_cache"});
  EXPECT_EQ(told.status, 1) << told.error;
  EXPECT_NE(told.output.find("verdict     empty_cache"), std::string::npos) << told.output;
  const base::Json json = json_of(doctor({file, "--cap", "80GiB", "--json"}));
  EXPECT_EQ(json.find("empty_cache")->find("calls")->as_unsigned(), 8U);
  EXPECT_EQ(json.find("empty_cache")->find("harmful")->as_bool(), true);
}

TEST_F(EbbDoctor, BadInputGetsOneLine) {
  const std::string good = recorded("runs/prefetch_streams.default.pickle.gz");
  expect_one_line(doctor({folder_ / "missing.pickle"}), "missing.pickle");
  expect_one_line(doctor({good, "--against", folder_ / "missing.pickle"}), "missing.pickle");
  expect_one_line(doctor({good, "--fail-on", "leek"}), "--fail-on 'leek'");
  expect_one_line(doctor({good, "--device", "-1"}), "--device '-1'");
  expect_one_line(doctor({good, "--cap", "much"}), "--cap 'much'");
  expect_one_line(doctor({good, "--torch-version", "1.13"}), "1.13");
  expect_one_line(doctor({}), "snapshot");
  expect_one_line(doctor({folder_.path()}), "directory");

  const std::string bytes = bytes_of(good);
  ASSERT_GT(bytes.size(), 1000U);
  expect_one_line(doctor({write("cut.pickle.gz", bytes.substr(0, bytes.size() / 2))}),
                  "cut.pickle.gz");
  std::string changed = bytes;
  changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] ^ 0x55);
  expect_one_line(doctor({write("changed.pickle.gz", changed)}), "changed.pickle.gz");
  expect_one_line(doctor({good, "--against", write("text", "not a snapshot")}), "text");
  expect_one_line(doctor({write("empty", "")}), "empty");
}

TEST_F(EbbDoctor, TellsWhatSegmentsSayWhereThereIsNoHistory) {
  const std::string file = recorded("untraced/ctx2.pickle.gz");
  const Finished told = doctor({file});
  ASSERT_EQ(told.status, 0) << told.error;
  EXPECT_EQ(told.error, "");
  for (const char* part :
       {"verdict     private_pools (confidence medium)", "also        fragmentation",
        "24.0 MiB reserved", "fragmentation 79.2 %", "no history was recorded", "t.py:13"}) {
    EXPECT_NE(told.output.find(part), std::string::npos) << part << "\n" << told.output;
  }
  const base::Json json = json_of(doctor({file, "--json"}));
  EXPECT_EQ(*json.find("evidence")->find("kind")->as_string(), "segments");
  EXPECT_EQ(json.find("trace")->find("requests")->as_unsigned(), 0U);
  EXPECT_EQ(json.find("ledger")->find("reserved_bytes")->as_unsigned(), 24 * kMiB);
  EXPECT_EQ(doctor({file, "--fail-on", "fragmentation"}).status, 1);
  EXPECT_EQ(doctor({file, "--fail-on", "leak"}).status, 0);
  expect_one_line(doctor({file, "--device", "3"}), "neither a history nor segments");
}

TEST_F(EbbDoctor, WritesAPageOfSegmentsWithoutAHistory) {
  const std::string page = folder_ / "page.html";
  ASSERT_EQ(doctor({recorded("untraced/prefetch_streams.pickle.gz"), "--html", page}).status, 0);
  const std::string text = bytes_of(page);
  EXPECT_NE(text.find("Segments and blocks at the moment in question"), std::string::npos);
  EXPECT_EQ(text.find("Reserved and allocated over time"), std::string::npos);
}

TEST_F(EbbDoctor, ComparesSnapshotsWithoutHistory) {
  Patient job;
  job.core().record_history({.enabled = false, .clear = true});
  job.take(100 * kMiB);
  const std::string file = write("silent.pickle", job);
  EXPECT_EQ(doctor({file, "--against", file}).status, 0);
  EXPECT_EQ(doctor({file}).status, 0);
}

TEST_F(EbbDoctor, ADatabaseIsNoSnapshot) {
  const std::string database = std::string(EBB_TEST_DATA) + "/interface/runs.db";
  expect_one_line(doctor({database}), "_dump_snapshot(\"snapshot.pickle\")");
}

}  // namespace
}  // namespace ebb::replay
