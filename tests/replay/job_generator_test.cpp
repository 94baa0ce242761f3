// SPDX-License-Identifier: Apache-2.0
#include "replay/job_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "replay/replayer.h"

namespace ebb::replay {
namespace {

using GeneratedKind = Operation::Kind;

constexpr std::uint64_t kGeneratedSeeds = 120;

Outcome replayed(const Workload& work, const char* conf) {
  Setup setup;
  setup.profile = *cache::profile_of(11);
  setup.settings = *cache::parse_settings(conf, setup.profile);
  return replay(work, setup);
}

/// Whatever a job asks, in order.
std::uint64_t fingerprint(const Workload& work) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const Operation& op : work.operations) {
    for (const std::uint64_t part : {std::uint64_t{op.block}, op.bytes, std::uint64_t{op.stream},
                                     static_cast<std::uint64_t>(op.kind)}) {
      hash = (hash ^ part) * 1099511628211ULL;
    }
  }
  return hash;
}

bool is_request(const Operation& op) {
  return op.kind != GeneratedKind::complete && op.kind != GeneratedKind::empty_cache;
}

TEST(GeneratedJobs, GoOnWhereTheRecordingEnds) {
  for (std::uint64_t seed = 1; seed <= kGeneratedSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const GeneratedJob job = generate_job(seed);
    const std::vector<Operation>& recorded = job.recorded.operations;
    const std::vector<Operation>& whole = job.whole.operations;
    EXPECT_GE(job.recorded.requests, 600U);
    EXPECT_LE(job.recorded.requests, 2000U);
    EXPECT_GE(job.whole.requests, 4 * job.recorded.requests);
    EXPECT_LE(job.whole.requests, 5 * job.recorded.requests);
    ASSERT_LT(recorded.size(), whole.size());
    ASSERT_GE(job.steps.size(), 12U);
    EXPECT_LT(job.steps[3], recorded.size()) << "four steps are recorded, or begun";
    EXPECT_LT(job.steps.back(), whole.size());
    EXPECT_TRUE(std::is_sorted(job.steps.begin(), job.steps.end()));
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      ASSERT_EQ(recorded[i].kind, whole[i].kind) << i;
      ASSERT_EQ(recorded[i].block, whole[i].block) << i;
      ASSERT_EQ(recorded[i].bytes, whole[i].bytes) << i;
      ASSERT_EQ(recorded[i].stream, whole[i].stream) << i;
    }
  }
}

TEST(GeneratedJobs, GiveEveryBlockBackAtMostOnce) {
  for (std::uint64_t seed = 1; seed <= kGeneratedSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Workload work = generate_job(seed).whole;
    std::set<std::uint32_t> live;
    std::set<std::uint32_t> waiting;
    std::uint32_t blocks = 0;
    std::uint64_t requests = 0;
    for (const Operation& op : work.operations) {
      requests += is_request(op) ? 1U : 0U;
      switch (op.kind) {
        case GeneratedKind::allocate:
          ASSERT_GT(op.bytes, 0U);
          ASSERT_LT(op.bytes, 1024 * base::kMiB);
          ASSERT_EQ(op.block, blocks++);
          live.insert(op.block);
          break;
        case GeneratedKind::free:
          ASSERT_EQ(live.erase(op.block), 1U);
          break;
        case GeneratedKind::free_later:
          ASSERT_EQ(live.erase(op.block), 1U);
          waiting.insert(op.block);
          break;
        case GeneratedKind::complete:
          ASSERT_EQ(waiting.erase(op.block), 1U);
          break;
        case GeneratedKind::empty_cache:
          break;
        case GeneratedKind::failed:
          FAIL();
      }
    }
    EXPECT_EQ(work.blocks, blocks);
    EXPECT_EQ(work.requests, requests);
  }
}

TEST(GeneratedJobs, OfEveryFamilyRunWithAndWithoutExpandableSegments) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= kGeneratedSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const GeneratedJob job = generate_job(seed);
    ++seen[job.family];
    for (const char* conf : {"", "expandable_segments:True"}) {
      const Outcome recorded = replayed(job.recorded, conf);
      const Outcome whole = replayed(job.whole, conf);
      EXPECT_FALSE(whole.oom);
      EXPECT_EQ(whole.requests, job.whole.requests);
      EXPECT_GE(whole.peak_reserved, recorded.peak_reserved);
      EXPECT_GE(whole.peak_reserved, whole.peak_allocated);
    }
    const Outcome recorded = replayed(job.recorded, "");
    EXPECT_EQ(job.recorded.recording.peak_reserved, recorded.peak_reserved);
  }
  for (const std::string& family : job_families()) {
    EXPECT_GT(seen[family], 0) << family;
  }
}

TEST(GeneratedJobs, AskForSmallBlocksAndForLargeOnes) {
  std::map<std::string, std::pair<int, int>> asked;
  for (std::uint64_t seed = 1; seed <= kGeneratedSeeds; ++seed) {
    const GeneratedJob job = generate_job(seed);
    for (const Operation& op : job.recorded.operations) {
      if (op.kind != GeneratedKind::allocate) continue;
      ++(op.bytes <= base::kMiB ? asked[job.family].first : asked[job.family].second);
    }
  }
  for (const auto& [family, counts] : asked) {
    EXPECT_GT(counts.first, 100) << family;
    EXPECT_GT(counts.second, 100) << family;
  }
}

TEST(GeneratedJobs, AreTheSameWithEveryCompiler) {
  std::uint64_t all = 0;
  for (std::uint64_t seed = 1; seed <= kGeneratedSeeds; ++seed) {
    all = all * 31 + fingerprint(generate_job(seed).whole);
  }
  EXPECT_EQ(all, 5661938026050661506U);
  EXPECT_NE(fingerprint(generate_job(1).whole), fingerprint(generate_job(2).whole));
}

}  // namespace
}  // namespace ebb::replay
