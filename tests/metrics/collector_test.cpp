// SPDX-License-Identifier: Apache-2.0
#include "metrics/collector.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "metrics/exposition.h"
#include "record/writer.h"
#include "support/temporary_directory.h"

namespace ebb::metrics {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr record::ProcessKey kMain{4242, 5000};
constexpr record::ProcessKey kWorker{4243, 5001};

// Two minutes of a run, whenever the test runs.
constexpr double kStarted = 1'800'000'000;
constexpr double kNow = kStarted + 120;

record::Process process_of(const record::ProcessKey& key, bool agent) {
  record::Process process;
  process.pid = key.pid;
  process.start = key.start;
  process.command = "python3 /home/alice/secret.py --token=abc";
  process.allocator = agent ? "glibc" : "";
  process.agent = agent;
  process.peak_rss = 300 * kMiB;
  return process;
}

record::Sample sample_of(const record::ProcessKey& key, double seconds, std::uint64_t rss) {
  record::Sample sample;
  sample.process = key;
  sample.seconds = seconds;
  sample.memory.rss = rss;
  sample.memory.anon = rss - 10 * kMiB;
  sample.memory.file = 8 * kMiB;
  sample.memory.shmem = 2 * kMiB;
  sample.memory.swap = 0;
  sample.cpu_seconds = 1.5;
  sample.minor_faults = 70;
  return sample;
}

/// A job that is being recorded.
class CollectorTest : public testing::Test {
 protected:
  CollectorTest() {
    record::Run run;
    run.name = "a name";
    run.command = {"python3", "/home/alice/secret.py"};
    run.role = "server";
    run.started = kStarted;
    run.limit = 8192 * kMiB;
    auto writer = record::Writer::begin(path(), run);
    EXPECT_TRUE(writer) << writer.error().message;
    writer_ = *std::move(writer);
    writer_->add(process_of(kMain, true));
    writer_->add(process_of(kWorker, false));
  }

  std::string path() const { return folder_ / "runs.db"; }

  /// Once the record has it: the text, as soon as it holds `line`.
  std::string text_with(Collector& collector, const std::string& line) {
    std::string text;
    for (int i = 0; i < 1200; ++i) {
      const auto families = collector.collect(kNow);
      EXPECT_TRUE(families) << families.error().message;
      if (!families) return text;
      text = text_of(*families, Format::text);
      if (text.find(line + "\n") != std::string::npos) return text;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "no line '" << line << "' in\n" << text;
    return text;
  }

  support::TemporaryDirectory folder_;
  std::unique_ptr<record::Writer> writer_;
};

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_F(CollectorTest, TellsWhatIsKnownAndNothingElse) {
  record::Sample main = sample_of(kMain, 119, 200 * kMiB);
  main.memory.live = 100 * kMiB;
  main.memory.retained = 60 * kMiB;
  writer_->add(main);
  writer_->add(sample_of(kWorker, 119, 50 * kMiB));
  record::PlaceSample place;
  place.seconds = 119;
  place.used = 1024 * kMiB;
  place.limit = 4096 * kMiB;
  place.pressure_some = 25;
  place.group.usage = 2048 * kMiB;
  place.group.anon = 900 * kMiB;
  writer_->add(place);
  record::Action action;
  action.process = kMain;
  action.seconds = 60;
  action.cleanup.returned = 7 * kMiB;
  action.cleanup.seconds = 0.25;
  writer_->add(action);
  action.seconds = 61;
  writer_->add(action);
  writer_->add(record::Round{kMain, 60, 4});
  const std::string last = "ebb_process_resident_bytes{run=\"1\",process=\"2\"} 52428800";
  Collector first(path());
  text_with(first, last);
  Collector collector(path());  // judges when it first looks
  const std::string text = text_with(collector, last);
  for (const char* line :
       {"ebb_run_processes{run=\"1\"} 2",
        "ebb_build_info{version=\"" EBB_VERSION "\"} 1",
        "ebb_run_info{run=\"1\",role=\"server\"} 1",
        "ebb_run_rounds_total{run=\"1\"} 1",
        "ebb_run_record_lost_total{run=\"1\"} 0",
        "ebb_run_verdict{run=\"1\",ebb_run_verdict=\"not_enough_data\"} 1",
        "ebb_run_verdict{run=\"1\",ebb_run_verdict=\"leak\"} 0",
        "ebb_memory_limit_bytes{run=\"1\"} 4294967296",
        "ebb_memory_used_bytes{run=\"1\"} 1073741824",
        "ebb_memory_pressure_ratio{run=\"1\"} 0.25",
        "ebb_group_usage_bytes{run=\"1\"} 2147483648",
        "ebb_group_memory_bytes{run=\"1\",part=\"anon\"} 943718400",
        "ebb_process_info{run=\"1\",process=\"1\",allocator=\"glibc\",agent=\"true\"} 1",
        "ebb_process_info{run=\"1\",process=\"2\",allocator=\"\",agent=\"false\"} 1",
        "ebb_process_resident_bytes{run=\"1\",process=\"1\"} 209715200",
        "ebb_process_resident_bytes{run=\"1\",process=\"2\"} 52428800",
        "ebb_process_swapped_bytes{run=\"1\",process=\"1\"} 0",
        "ebb_process_peak_resident_bytes{run=\"1\",process=\"1\"} 314572800",
        "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"live\"} 104857600",
        "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"retained\"} 62914560",
        "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"shared\"} 2097152",
        "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"file\"} 8388608",
        "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"unexplained\"} 31457280",
        "ebb_process_cleanups_total{run=\"1\",process=\"1\"} 2",
        "ebb_process_returned_bytes_total{run=\"1\",process=\"1\"} 14680064",
        "ebb_process_cleanup_seconds_total{run=\"1\",process=\"1\"} 0.5",
        "ebb_process_cpu_seconds_total{run=\"1\",process=\"2\"} 1.5",
        "ebb_process_minor_faults_total{run=\"1\",process=\"2\"} 70",
        "ebb_process_verdict{run=\"1\",process=\"2\",ebb_process_verdict=\"not_enough_data\"} 1"})
    EXPECT_TRUE(has(text, line)) << line << "\n" << text;
  for (const char* unknown : {"part=\"python\"", "part=\"shmem\"", "growth", "until_limit",
                              "process=\"2\",part=\"live\"", "proportional"})
    EXPECT_EQ(text.find(unknown), std::string::npos) << unknown;
  for (const char* secret : {"alice", "python3", "a name", "4242", "runs.db"})
    EXPECT_EQ(text.find(secret), std::string::npos) << secret;
}

TEST_F(CollectorTest, GoesWithTheRun) {
  writer_->add(sample_of(kMain, 100, 100 * kMiB));
  Collector collector(path());
  text_with(collector, "ebb_process_resident_bytes{run=\"1\",process=\"1\"} 104857600");
  writer_->add(sample_of(kMain, 119, 300 * kMiB));
  text_with(collector, "ebb_process_resident_bytes{run=\"1\",process=\"1\"} 314572800");
  writer_->process_ended(kMain, 119.5);
  const std::string text = text_with(collector, "ebb_run_processes{run=\"1\"} 1");
  EXPECT_EQ(text.find("process=\"1\""), std::string::npos);
  record::Run over;
  over.ended = kNow;
  over.exit_code = 0;
  writer_->end(over);
  const auto families = collector.collect(kNow);
  ASSERT_TRUE(families);
  EXPECT_EQ(families->size(), 1U) << "the build alone";
}

TEST_F(CollectorTest, KeepsWhatTheAllocatorSaidLastUntilItIsOld) {
  record::Sample told = sample_of(kMain, 100, 100 * kMiB);
  told.memory.live = 40 * kMiB;
  told.memory.retained = 30 * kMiB;
  writer_->add(told);
  writer_->add(record::Beside{kMain, 100, {"mimalloc", "libarrow.so", "", false, kMiB}});
  const std::string live =
      "ebb_process_memory_bytes{run=\"1\",process=\"1\",part=\"live\"} 41943040";
  Collector collector(path());
  text_with(collector, live);
  writer_->add(sample_of(kMain, 110, 120 * kMiB));
  EXPECT_TRUE(has(
      text_with(collector, "ebb_process_resident_bytes{run=\"1\",process=\"1\"} 125829120"), live));
  // The kernel's own numbers are old after half a minute.
  writer_->add(sample_of(kWorker, 50, 10 * kMiB));
  EXPECT_EQ(text_with(collector, live).find("process=\"2\""), std::string::npos);
}

TEST_F(CollectorTest, FindsALeakAndWhenItMeetsTheLimit) {
  for (int i = 0; i < 120; ++i)
    writer_->add(sample_of(kMain, i, (100 + 10 * static_cast<std::uint64_t>(i)) * kMiB));
  record::PlaceSample place;
  place.seconds = 119;
  place.used = 2048 * kMiB;
  place.limit = 4096 * kMiB;
  writer_->add(place);
  const std::string last = "ebb_process_resident_bytes{run=\"1\",process=\"1\"} 1352663040";
  Collector first(path());
  text_with(first, last);
  Collector collector(path());  // judges when it first looks
  const std::string text = text_with(collector, last);
  EXPECT_TRUE(
      has(text, "ebb_process_verdict{run=\"1\",process=\"1\",ebb_process_verdict=\"leak\"} 1"));
  EXPECT_TRUE(has(text, "ebb_run_verdict{run=\"1\",ebb_run_verdict=\"leak\"} 1"));
  const auto value_of = [&](const std::string& name) {
    const std::string begin = "\n" + name + "{run=\"1\",process=\"1\"} ";
    const std::size_t at = text.find(begin);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + begin.size()));
  };
  EXPECT_NEAR(value_of("ebb_process_growth_bytes_per_second"), 10.0 * kMiB, kMiB);
  EXPECT_NEAR(value_of("ebb_process_until_limit_seconds"), 204.8, 20);
}

TEST_F(CollectorTest, IsAboutOneRunWhereThatIsAsked) {
  writer_->add(sample_of(kMain, 119, 100 * kMiB));
  record::Run other;
  other.name = "other";
  other.command = {"true"};
  other.started = kNow;
  auto second = record::Writer::begin(path(), other);
  ASSERT_TRUE(second);
  Collector all(path());
  EXPECT_TRUE(has(text_with(all, "ebb_run_info{run=\"1\",role=\"server\"} 1"),
                  "ebb_run_info{run=\"2\",role=\"\"} 1"));
  Collector one(path(), 2);
  EXPECT_EQ(text_with(one, "ebb_run_info{run=\"2\",role=\"\"} 1").find("run=\"1\""),
            std::string::npos);
}

TEST_F(CollectorTest, TellsOfCardsAsTheMachineAndAsTheJobSeesThem) {
  writer_->add(sample_of(kMain, 119, 100 * kMiB));
  writer_->add(record::DeviceSample{std::nullopt, 119, {0, {80 * kMiB, 30 * kMiB, 0, 0}}});
  writer_->add(record::DeviceSample{std::nullopt, 20, {1, {80 * kMiB, 30 * kMiB, 0, 0}}});
  writer_->add(record::DeviceSample{
      kMain, 119, {2, {80 * kMiB, 30 * kMiB, 40 * kMiB, 15 * kMiB, 20 * kMiB, 5 * kMiB}}});
  writer_->add(record::DeviceSample{kMain, 119, {3, {80 * kMiB, 30 * kMiB, 8 * kMiB, 2 * kMiB}}});
  Collector collector(path());
  const std::string text =
      text_with(collector, "ebb_device_total_bytes{run=\"1\",device=\"0\"} 83886080");
  EXPECT_TRUE(has(text, "ebb_device_used_bytes{run=\"1\",device=\"0\"} 52428800"));
  const auto part = [&](const std::string& device, const std::string& name, std::uint64_t mib) {
    return has(text, "ebb_process_device_bytes{run=\"1\",process=\"1\",device=\"" + device +
                         "\",part=\"" + name + "\"} " + std::to_string(mib * kMiB));
  };
  EXPECT_TRUE(part("2", "live", 20) && part("2", "pending", 5) && part("2", "inactive", 5) &&
              part("2", "free", 10))
      << text;
  EXPECT_TRUE(part("3", "live", 6) && part("3", "free", 2)) << text;
  for (const char* unknown :
       {"device=\"1\"", "device=\"3\",part=\"pending", "device=\"3\",part=\"inactive"})
    EXPECT_EQ(text.find(unknown), std::string::npos) << unknown;
}

TEST(Collector, HasNothingToTellBeforeThereIsARecord) {
  const support::TemporaryDirectory folder;
  Collector collector(folder / "none.db");
  const auto families = collector.collect(kNow);
  ASSERT_TRUE(families) << families.error().message;
  EXPECT_EQ(families->size(), 1U);
  Collector broken(folder.write("broken.db", std::string(4096, 'x')));
  EXPECT_FALSE(broken.collect(kNow));
}

}  // namespace
}  // namespace ebb::metrics
