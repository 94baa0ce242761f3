// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/stats_diagnosis.h"

#include <gtest/gtest.h>

#include "cache/stats_keys.h"
#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

/// torch.cuda.memory_stats() of the job.
base::Json stats_of(Patient& job) {
  base::Json json = base::Json::object();
  const cache::Core& core = job.core();
  for (const auto& [key, value] :
       cache::memory_stats(core.stats(), core.private_reserved(), core.profile()))
    json.set(key, value);
  return json;
}

StatsDiagnosis verdict_on(Patient& job) {
  const auto stats = read_stats(stats_of(job), "stats");
  EXPECT_TRUE(stats) << stats.error().message;
  return diagnose(stats ? *stats : StatsReading{});
}

bool mentions(const StatsDiagnosis& diagnosis, const char* words) {
  for (const std::string& finding : diagnosis.findings)
    if (finding.find(words) != std::string::npos) return true;
  return false;
}

TEST(StatsDiagnosis, AJobThatUsesWhatItHoldsIsHealthy) {
  Patient job;
  job.take_all(4, 100 * kMiB);
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_TRUE(found.also.empty());
  EXPECT_EQ(found.fix.kind, fact::FixKind::none);
  EXPECT_NEAR(*found.stats.utilization_percent(), 100, 0.01);
  EXPECT_NEAR(*found.stats.fragmentation_percent(), 0, 0.01);
  EXPECT_TRUE(mentions(found, "no request had to be tried again"));
}

TEST(StatsDiagnosis, PiecesBesideLiveBlocksAreFragmentation) {
  Patient job;
  job.give(job.take(400 * kMiB));
  const std::vector<Address> quarters = job.take_all(4, 100 * kMiB);
  job.give(quarters[0]);
  job.give(quarters[2]);
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::fragmentation);
  EXPECT_EQ(found.stats.inactive_split, 200 * kMiB);
  EXPECT_NEAR(*found.stats.utilization_percent(), 50, 0.01);
  EXPECT_NEAR(*found.stats.fragmentation_percent(), 50, 0.01);
  EXPECT_NEAR(*found.stats.inactive_split_percent(), 50, 0.01);
  EXPECT_EQ(found.fix.conf, "expandable_segments:True");
  EXPECT_EQ(found.evidence.find("inactive_split_bytes")->as_unsigned(), 200 * kMiB);
}

TEST(StatsDiagnosis, FreedMemoryThatOtherStreamsUseIsDeferred) {
  Patient job;
  const Address shared = job.take(100 * kMiB);
  job.share(shared, 7);
  job.give(shared);
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::deferred_frees);
  EXPECT_EQ(found.stats.pending(), 100 * kMiB);
}

TEST(StatsDiagnosis, RequestsThatAreRoundedUpAreRounding) {
  Patient job({.conf = "roundup_power2_divisions:2"});
  job.take(65 * kMiB);
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::rounding);
  EXPECT_EQ(found.stats.rounding(), 31 * kMiB);
}

TEST(StatsDiagnosis, AFullCardIsCapacityWithItsRetries) {
  Patient job({.limit = kGiB});
  job.take(1000 * kMiB);
  job.refuse(200 * kMiB);
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_EQ(found.confidence, fact::Confidence::low);
  EXPECT_EQ(found.stats.ooms, 1U);
  EXPECT_EQ(found.stats.retries, 1U);
  EXPECT_TRUE(mentions(found, "retries: 1"));
}

TEST(StatsDiagnosis, CacheThatWaitsForTheNextRequestIsNoTrouble) {
  Patient job;
  job.take(500 * kMiB);
  job.give(job.take(450 * kMiB));
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_EQ(found.also, std::vector{Verdict::cache});
}

TEST(StatsDiagnosis, EmptyingTheCacheInALoopIsHarmful) {
  Patient job;
  job.take(200 * kMiB);
  for (int i = 0; i < 8; ++i) {
    job.give(job.take(150 * kMiB));
    ASSERT_TRUE(job.core().empty_cache());
  }
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::empty_cache);
  EXPECT_EQ(found.stats.empty_cache_calls, 8U);
  EXPECT_EQ(found.stats.retaken, 7 * 150 * kMiB);
}

TEST(StatsDiagnosis, ReadsNestedDictionariesAndOldReleases) {
  const auto nested = base::parse_json(R"({
      "allocated_bytes": {"all": {"current": 60, "peak": 80}},
      "reserved_bytes": {"all": {"current": 100, "peak": 100}}, "num_ooms": 2})");
  ASSERT_TRUE(nested);
  const auto stats = read_stats(*nested, "stats");
  ASSERT_TRUE(stats) << stats.error().message;
  EXPECT_EQ(stats->allocated, 60U);
  EXPECT_EQ(stats->active, 60U) << "what is not told is what was allocated";
  EXPECT_EQ(stats->peak_allocated, 80U);
  EXPECT_EQ(stats->ooms, 2U);
  EXPECT_EQ(stats->empty_cache_calls, std::nullopt) << "not counted before 2.3";
}

TEST(StatsDiagnosis, OfNothingIsHealthyWithoutShares) {
  Patient job;
  const StatsDiagnosis found = verdict_on(job);
  EXPECT_EQ(found.verdict, Verdict::healthy);
  EXPECT_EQ(found.stats.utilization_percent(), std::nullopt);
}

TEST(StatsDiagnosis, RefusesWhatIsNoStatistics) {
  const std::string good = R"("allocated_bytes.all.current": 1, "allocated_bytes.all.peak": 1,)"
                           R"("reserved_bytes.all.current": 2, "reserved_bytes.all.peak": 2)";
  ASSERT_TRUE(read_stats(*base::parse_json("{" + good + "}"), "x"));
  const std::pair<std::string, const char*> wrong[] = {
      {"[]", "expected an object"},
      {"{}", "no 'allocated_bytes.all.current'"},
      {R"({"allocated_bytes.all.current": -1})", "'allocated_bytes.all.current' is -1"},
      {R"({"allocated_bytes.all.current": "1"})", "is \"1\""},
      {R"({"allocated_bytes.all.current": 18446744073709551615})", "expected a whole number"},
      {"{" + good + R"(, "num_ooms": 0.5})", "'num_ooms' is 0.5"},
      {"{" + good + R"(, "active_bytes.all.current": 3})", "do not fit into 2 reserved"},
      {"{" + good + R"(, "active_bytes.all.current": 0})", "do not fit into 2 reserved"},
      {"{" + good + R"(, "inactive_split_bytes.all.current": 2})", "do not fit"}};
  for (const auto& [text, part] : wrong) {
    const auto stats = read_stats(*base::parse_json(text), "x");
    ASSERT_FALSE(stats) << text;
    EXPECT_EQ(stats.error().code, base::Code::bad_input);
    EXPECT_TRUE(stats.error().message.starts_with("x: ")) << stats.error().message;
    EXPECT_NE(stats.error().message.find(part), std::string::npos) << stats.error().message;
  }
}

}  // namespace
}  // namespace ebb::replay
