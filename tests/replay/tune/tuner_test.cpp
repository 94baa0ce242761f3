// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/tuner.h"

#include <gtest/gtest.h>

#include "replay/job_builder.h"
#include "replay/lifetimes.h"
#include "replay/tune/packing.h"
#include "replay/tune/training_job.h"
#include "support/effort.h"

namespace ebb::replay {
namespace {

using base::kMiB;

SearchSpace reduced_space() {
  SearchSpace space;
  space.expandable = {false, true};
  space.split_mb = {0, 24, 64};
  space.non_split_mb = {0, 128};
  space.segment_mb = {0, 12, 32};
  space.collect_percent = {0};
  space.divisions = {0, 2, 8};
  return space;
}

/// The least that any of these settings holds, and the fewest settings that do.
std::pair<std::uint64_t, int> brute_force(const Workload& work, const SearchSpace& space,
                                          int minor) {
  std::pair<std::uint64_t, int> best{cache::kUnlimited, 0};
  Circumstances circumstances;
  circumstances.profile = *cache::profile_of(minor);
  for (const Knobs& knobs : space.combinations()) {
    const auto row = forecast(work, conf_of(knobs), circumstances, false);
    if (!row) continue;
    best = std::min(best, {row->outcome.peak_reserved, count_set(knobs)});
  }
  return best;
}

TEST(Tuner, FindsWhatBruteForceFinds) {
  const auto seeds = static_cast<unsigned>(support::trials(6, 20));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    const int minor = seed % 2 == 0 ? 11 : 13;
    RecordedJob job("", minor);
    run_randomly(job, seed, 400, 10 + 3 * seed);
    const Workload work = job.workload();
    TuneOptions options;
    options.space = reduced_space();
    options.refine = false;
    options.quick = true;
    options.circumstances.profile = *cache::profile_of(minor);
    const auto result = tune({&work}, options);
    ASSERT_TRUE(result);
    const auto [peak, settings] = brute_force(work, reduced_space(), minor);
    EXPECT_EQ(result->jobs.front().best.outcome.peak_reserved, peak);
    EXPECT_EQ(count_set(result->knobs), settings);
  }
}

TEST(Tuner, FindsNoWorseWithRefining) {
  RecordedJob job;
  run_randomly(job, 3, 300, 40);
  const Workload work = job.workload();
  TuneOptions plain;
  plain.quick = true;
  plain.refine = false;
  const auto coarse = tune({&work}, plain);
  plain.refine = true;
  const auto fine = tune({&work}, plain);
  ASSERT_TRUE(coarse && fine);
  EXPECT_LE(fine->jobs[0].best.outcome.peak_reserved, coarse->jobs[0].best.outcome.peak_reserved);
  EXPECT_GE(fine->jobs[0].best.outcome.peak_reserved, fine->jobs[0].lower_bound);
}

TEST(Tuner, GivesTheSameAnswerEveryTime) {
  RecordedJob job;
  run_randomly(job, 9, 250, 30);
  const Workload work = job.workload();
  const auto first = tune({&work}, {});
  const auto second = tune({&work}, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(to_json(*first, first->jobs[0]).text(), to_json(*second, second->jobs[0]).text());
}

TEST(Tuner, KeepsTheDefaultWhereNothingIsBetter) {
  RecordedJob job;
  const device::Address block = job.take(64 * kMiB);
  job.give(block);
  job.take(64 * kMiB);
  const Workload work = job.workload();
  const auto result = tune({&work}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(conf_of(result->knobs), "");
  EXPECT_TRUE(result->proven);
  TuneOptions quick;
  quick.quick = true;
  EXPECT_LT(tune({&work}, quick)->tried, 100U) << "it stops when nothing can hold less";
}

TEST(Tuner, FindsOneStringForSeveralJobs) {
  RecordedJob one;
  RecordedJob two;
  run_randomly(one, 1, 200, 30);
  run_randomly(two, 2, 250, 40);
  const Workload first = one.workload();
  const Workload second = two.workload();
  const auto result = tune({&first, &second}, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->jobs.size(), 2U);
  EXPECT_EQ(result->jobs[0].best.conf, result->jobs[1].best.conf);
}

TEST(Tuner, PrefersFewerDriverCallsWhenAsked) {
  RecordedJob job;
  run_randomly(job, 4, 300, 40);
  const Workload work = job.workload();
  TuneOptions options;
  options.quick = true;
  const auto least_memory = tune({&work}, options);
  options.objective = Objective::calls;
  const auto least_calls = tune({&work}, options);
  ASSERT_TRUE(least_calls && least_memory);
  EXPECT_LE(least_calls->jobs[0].best.outcome.calls.seconds,
            least_memory->jobs[0].best.outcome.calls.seconds);
  EXPECT_GE(least_calls->jobs[0].best.outcome.peak_reserved,
            least_memory->jobs[0].best.outcome.peak_reserved);
}

TEST(Tuner, AvoidsSettingsThatRunOutOfMemory) {
  RecordedJob job;
  run_randomly(job, 6, 300, 40);
  const Workload work = job.workload();
  TuneOptions options;
  options.quick = true;
  const auto open = tune({&work}, options);
  ASSERT_TRUE(open);
  options.circumstances.limit = open->jobs[0].best.outcome.peak_reserved + 20 * kMiB;
  const auto tight = tune({&work}, options);
  ASSERT_TRUE(tight);
  EXPECT_FALSE(tight->jobs[0].best.outcome.oom);
}

TEST(Tuner, NamesTheVariableThatTheReleaseReads) {
  RecordedJob job;
  job.give(job.take(512));
  const Workload work = job.workload();
  TuneOptions options;
  options.circumstances.profile = *cache::profile_of(9);
  EXPECT_EQ(tune({&work}, options)->variable, "PYTORCH_CUDA_ALLOC_CONF");
  options.circumstances.profile = *cache::profile_of(10);
  EXPECT_EQ(tune({&work}, options)->variable, "PYTORCH_ALLOC_CONF");
}

TEST(Tuner, LooksAtHowTheJobGoesOn) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  const auto result = tune({&work}, {});
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->futures && result->jobs[0].later && result->jobs[0].later_by_default);
  EXPECT_TRUE(result->futures->repeats);
  EXPECT_EQ(result->futures->sources.size(), 2 * result->futures->held_out);
  EXPECT_TRUE(result->futures->held_out_regret);
  const Foresight& later = *result->jobs[0].later;
  EXPECT_GE(later.worst().peak, later.rule().peak);
  EXPECT_GE(later.over_live().value(), 1);
  EXPECT_GE(later.worst().peak, result->jobs[0].best.outcome.peak_reserved);
  const base::Json json = to_json(*result, result->jobs[0]);
  for (const char* key :
       {"futures", "later", "later_by_default", "later_as_recorded", "regret", "growth"}) {
    EXPECT_NE(json.find(key), nullptr) << key;
  }
}

TEST(Tuner, TrustsPagesOfAnotherSizeWhereThePeakWasSeenOften) {
  const auto answer_to = [](int steps) {
    RecordedJob job;
    job.take(3 * kMiB);
    for (int step = 0; step < steps; ++step) {
      job.give(job.take(40 * kMiB));
    }
    const Workload work = job.workload();
    return tune({&work}, {})->knobs;
  };
  // 43 MiB are three pages of 20, and less in pages of 12 or 16.
  EXPECT_EQ(conf_of(answer_to(6)), "expandable_segments:True");
  EXPECT_NE(answer_to(11).segment_mb, 0U);
}

TEST(Outlook, CountsHowOftenTheMostWasLive) {
  const auto peaks_in = [](const std::vector<std::uint64_t>& lengths) {
    const Workload work = TrainingJob().run(lengths);
    return Outlook({&work}, Objective::memory, {}).fewest_peaks();
  };
  EXPECT_EQ(peaks_in({100, 110, 120, 300, 120, 300, 200, 300, 110, 100}), 3U);
  EXPECT_EQ(peaks_in({100, 110, 120, 290, 120, 280, 200, 300, 110, 100}), 1U);
}

TEST(Tuner, SaysThatWhatIsLiveGrows) {
  TrainingJob job;
  job.leak = 3 * kMiB;
  const Workload work = job.run(varied_lengths(12));
  const auto result = tune({&work}, {});
  ASSERT_TRUE(result);
  const Growth& growth = result->jobs[0].later->rule().growth.value();
  EXPECT_FALSE(growth.stops_after_steps);
  EXPECT_NEAR(growth.live_bytes_per_step, 3.0 * kMiB, 0.5 * kMiB);
}

TEST(Tuner, AnswersOnlyWhatIsWellKnownWhereNothingRepeats) {
  RecordedJob job;
  run_randomly(job, 5, 900, 60);
  const Workload work = job.workload();
  const auto result = tune({&work}, {});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->futures->repeats);
  Knobs plain = result->knobs;
  plain.expandable = false;
  plain.segment_mb = 0;
  EXPECT_EQ(plain, Knobs());
}

TEST(Tuner, LeavesOutWhatCannotBeUsed) {
  const Workload work = TrainingJob().run(varied_lengths(12));
  TuneOptions options;
  options.without = {"expandable_segments", "roundup_power2_divisions"};
  const auto result = tune({&work}, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(conf_of(result->knobs).find("expandable"), std::string::npos);
  EXPECT_EQ(conf_of(result->knobs).find("roundup"), std::string::npos);
  options.without = {"glory"};
  EXPECT_EQ(tune({&work}, options).error().code, base::Code::bad_input);
}

TEST(Knobs, WriteStringsThatMeanThem) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    Knobs knobs;
    for (std::uint8_t& division : knobs.divisions) {
      const std::uint8_t values[] = {0, 0, 0, 2, 4, 8};
      division = values[random() % 6];
    }
    knobs.expandable = random() % 2 == 0;
    knobs.split_mb = random() % 2 == 0 ? 0 : 200 + static_cast<std::uint32_t>(random() % 100);
    knobs.segment_mb = random() % 2 == 0 ? 0 : 12 + static_cast<std::uint32_t>(random() % 100);
    const std::string conf = conf_of(knobs);
    for (const int minor : {9, 11, 13}) {
      if (minor < 11 && knobs.segment_mb != 0) continue;
      const auto settings = cache::parse_settings(conf, *cache::profile_of(minor));
      ASSERT_TRUE(settings) << conf << ": " << settings.error().message;
      EXPECT_EQ(settings->expandable_segments, knobs.expandable);
      for (std::size_t b = 0; b < knobs.divisions.size(); ++b) {
        ASSERT_EQ(settings->roundup_divisions[b], knobs.divisions[b]) << conf << " 2." << minor;
      }
    }
  }
}

TEST(Packing, NeverLetsBlocksOverlap) {
  const auto seeds = static_cast<unsigned>(support::trials(3, 10));
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    RecordedJob job;
    run_randomly(job, seed, 800, 60);
    const Workload work = job.workload();
    const std::vector<Lifetime> lives = lifetimes_of(work);
    const LowerBound bound = lower_bound_of(work);
    const Packing packing = pack(lives, bound.live);
    EXPECT_GE(packing.height, bound.live);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      ASSERT_LE(packing.offsets[i] + lives[i].bytes, packing.height);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together = lives[i].first < lives[j].last && lives[j].first < lives[i].last;
        const bool apart = packing.offsets[i] + lives[i].bytes <= packing.offsets[j] ||
                           packing.offsets[j] + lives[j].bytes <= packing.offsets[i];
        ASSERT_TRUE(!together || apart) << i << " and " << j;
      }
    }
  }
}

TEST(LowerBound, IsTheMostThatIsLiveAtOnce) {
  RecordedJob job;
  const device::Address a = job.take(10 * kMiB);
  const device::Address b = job.take(20 * kMiB);
  job.give(a);
  job.take(5 * kMiB);
  job.give(b);
  const LowerBound bound = lower_bound_of(job.workload());
  EXPECT_EQ(bound.live, 30 * kMiB);
  EXPECT_EQ(bound.in_units, 30 * kMiB);
}

TEST(Tuner, EndsWhereItIsToldTo) {
  RecordedJob job("", 11);
  run_randomly(job, 1, 400, 10);
  const Workload work = job.workload();
  TuneOptions options;
  options.space = reduced_space();
  int asked = 0;
  options.stops = [&] { return ++asked > 3; };
  const auto result = tune({&work}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::unavailable);
  EXPECT_EQ(asked, 4) << "and asks no more";
}

}  // namespace
}  // namespace ebb::replay
