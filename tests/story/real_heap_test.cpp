// SPDX-License-Identifier: Apache-2.0
// Verdicts on series that real allocators made.
#include <gtest/gtest.h>

#include "record/runs.h"
#include "story/run_story.h"
#include "support/subprocess.h"
#include "support/temporary_directory.h"

namespace ebb::story {
namespace {

using fact::Verdict;

struct Preload {
  const char* name;
  const char* library;
  bool tells_live;
};

class OnARealHeap : public testing::TestWithParam<Preload> {
 protected:
  RunStory story_of_job(const std::string& kind) const {
    const support::TemporaryDirectory folder;
    const support::Finished job =
        support::run({EBB_JOB, kind, folder / "runs.db"}, {{"LD_PRELOAD", GetParam().library}});
    EXPECT_EQ(job.status, 0) << job.error;
    return story_of(record::read(folder / "runs.db"));
  }

  RunStory expect(const std::string& kind, Verdict verdict,
                  const std::vector<Verdict>& also = {}) const {
    RunStory story = story_of_job(kind);
    const base::Json told = fact::to_json(story.diagnosis);
    EXPECT_EQ(story.diagnosis.verdict, verdict) << told.text();
    EXPECT_EQ(story.diagnosis.also, also) << told.text();
    EXPECT_EQ(story.diagnosis.confidence == fact::Confidence::high, GetParam().tells_live)
        << told.text();
    return story;
  }
};

TEST_P(OnARealHeap, NothingThatGrowsIsHealthy) {
  expect("neither", Verdict::healthy);
}

TEST_P(OnARealHeap, ALeakIsALeakAndItsPaceIsMeasured) {
  const RunStory story = expect("leak", Verdict::leak);
  // 2 MiB per round of three seconds.
  const double truth = 2.0 * 1048576 / 3 * 3600;
  const char* key =
      GetParam().tells_live ? "live_slope_bytes_per_hour" : "after_cleanup_slope_bytes_per_hour";
  EXPECT_NEAR(story.diagnosis.evidence.find(key)->as_double().value_or(0), truth, 0.1 * truth);
}

TEST_P(OnARealHeap, WhatCleanupsReturnInEveryRoundIsRetention) {
  if (GetParam().tells_live) {
    expect("retention", Verdict::retention);
  } else {
    // mimalloc 2.0 returns nothing when asked: what it keeps cannot be seen, and is no leak.
    const keep::ProcessDiagnosis found = story_of_job("retention").diagnosis;
    EXPECT_TRUE(found.verdict == Verdict::healthy || found.verdict == Verdict::not_enough_data)
        << fact::to_json(found).text();
  }
}

TEST_P(OnARealHeap, AJobThatDoesBothIsALeakWithTheRetentionBesideIt) {
  if (GetParam().tells_live) {
    expect("both", Verdict::leak, {Verdict::retention});
  } else {
    expect("both", Verdict::leak);
  }
}

TEST_P(OnARealHeap, MemoryPastMallocIsForeign) {
  // Without live bytes it cannot be told from a leak.
  expect("foreign", GetParam().tells_live ? Verdict::foreign : Verdict::leak);
}

INSTANTIATE_TEST_SUITE_P(Allocators, OnARealHeap,
                         testing::Values(Preload{"glibc", "", true},
                                         Preload{"jemalloc", "libjemalloc.so.2", true},
                                         Preload{"tcmalloc", "libtcmalloc_minimal.so.4", true},
                                         Preload{"mimalloc", "libmimalloc.so.2.0", false}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace ebb::story
