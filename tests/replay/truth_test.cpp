// SPDX-License-Identifier: Apache-2.0
// Replays of real runs against what really happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/bytes.h"
#include "base/text.h"
#include "cache/stats_keys.h"
#include "replay/recorded_run.h"
#include "replay/tune/tuner.h"
#include "term/table.h"

namespace ebb::replay {
namespace {

const std::vector<RecordedRun>& runs() {
  static const std::vector<RecordedRun> all = recorded_runs(EBB_TORCH_RUNS);
  return all;
}

const RecordedRun* find_run(const std::string& workload, const std::string& setting) {
  const auto found = std::find_if(runs().begin(), runs().end(), [&](const RecordedRun& run) {
    return run.workload == workload && run.setting == setting;
  });
  return found == runs().end() ? nullptr : &*found;
}

Circumstances circumstances_of(const RecordedRun& run) {
  Circumstances circumstances;
  circumstances.limit = run.cap;
  return circumstances;
}

/// The first request that found no memory, in requests before it.
std::uint64_t first_oom(const RecordedRun& run) {
  return std::find_if(run.events.begin(), run.events.end(),
                      [](const SegmentEvent& e) { return e.action == trace::Action::oom; })
      ->requests;
}

TEST(RecordedRuns, AreReplayedExactlyUnderTheirOwnSettings) {
  ASSERT_FALSE(runs().empty());
  for (const RecordedRun& run : runs()) {
    SCOPED_TRACE(run.name());
    const Job job = job_of(run);
    EXPECT_EQ(job.workload.requests, run.requests);
    const auto row = forecast(job.workload, run.conf, circumstances_of(run), true);
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_TRUE(row->is_recorded);
    EXPECT_EQ(row->check, Check::exact);
    EXPECT_EQ(row->outcome.events, run.events);
    const cache::StatsTable stats =
        cache::memory_stats(row->outcome.stats, row->outcome.private_reserved, row->profile);
    EXPECT_EQ(stats.size(), run.stats.size());
    for (const auto& [key, value] : stats) {
      const auto recorded = run.stats.find(key);
      ASSERT_NE(recorded, run.stats.end()) << key;
      EXPECT_EQ(value, recorded->second) << key;
    }
  }
}

/// The limit is not in a recording; without being told, one is found that reproduces all failures.
TEST(RecordedRuns, NeedNotBeToldTheirLimit) {
  int limited = 0;
  for (const RecordedRun& run : runs()) {
    if (!run.ran_out || run.conf.find("garbage") != std::string::npos) continue;
    SCOPED_TRACE(run.name());
    auto jobs = read_jobs(run.pickle, std::nullopt, std::nullopt);
    ASSERT_TRUE(jobs);
    const auto row = forecast(jobs->front().workload, run.conf, {}, true);
    ASSERT_TRUE(row);
    ASSERT_TRUE(row->outcome.oom);
    EXPECT_EQ(row->outcome.oom->requests, first_oom(run));
    ++limited;
  }
  EXPECT_GT(limited, 0);
}

struct Prediction {
  std::string run;
  std::string kind;
  std::string real;
  std::string predicted;
  std::string check;
  double error = 0;  ///< percent of the real peak
};

void print(const std::vector<Prediction>& predictions) {
  term::Table table({{"run", term::Align::left},
                     {"what", term::Align::left},
                     {"real"},
                     {"predicted"},
                     {"error %"},
                     {"check", term::Align::left}});
  for (const Prediction& p : predictions) {
    table.add_row(
        {p.run, p.kind, p.real, p.predicted, base::format_text("%.2f", p.error), p.check});
  }
  std::printf("%s", table.markdown().c_str());
}

TEST(DefaultRuns, PredictEveryOtherSettingOfTheSameJob) {
  std::vector<Prediction> predictions;
  std::vector<double> errors;
  int ooms = 0;
  int exact_ooms = 0;
  for (const RecordedRun& run : runs()) {
    const RecordedRun* from = find_run(run.workload, "default");
    if (from == nullptr || from == &run) continue;
    SCOPED_TRACE(run.name());
    const Job job = job_of(*from);
    const auto row = forecast(job.workload, run.conf, circumstances_of(run), false);
    ASSERT_TRUE(row);
    if (run.ran_out) {
      ++ooms;
      ASSERT_TRUE(row->outcome.oom);
      const bool exact = row->outcome.oom->requests == first_oom(run);
      exact_ooms += exact ? 1 : 0;
      EXPECT_LE(row->oom_at->low, first_oom(run));
      EXPECT_GE(row->oom_at->high, first_oom(run));
      predictions.push_back({run.name(), "first out of memory", std::to_string(first_oom(run)),
                             std::to_string(row->outcome.oom->requests), check_text(*row), 0});
    } else if (run.requests == from->requests) {
      const auto real = static_cast<double>(run.peak_reserved());
      const double error = 100 * (static_cast<double>(row->outcome.peak_reserved) - real) / real;
      errors.push_back(std::abs(error));
      if (row->check == Check::exact) {
        EXPECT_EQ(row->outcome.peak_reserved, run.peak_reserved());
      } else {
        EXPECT_LE(row->peak.low, run.peak_reserved());
        EXPECT_GE(row->peak.high, run.peak_reserved());
      }
      predictions.push_back({run.name(), "peak reserved", std::to_string(run.peak_reserved()),
                             std::to_string(row->outcome.peak_reserved), check_text(*row), error});
    }
  }
  print(predictions);
  ASSERT_FALSE(errors.empty());
  std::sort(errors.begin(), errors.end());
  EXPECT_EQ(errors[errors.size() / 2], 0);
  EXPECT_LE(errors.back(), 1);
  EXPECT_GT(ooms, 0);
  EXPECT_GE(exact_ooms * 10, ooms * 9);
}

TEST(Tuning, FindsNothingWorseThanTheBestRecordedSetting) {
  int compared = 0;
  for (const RecordedRun& from : runs()) {
    if (from.setting != "default") continue;
    SCOPED_TRACE(from.workload);
    const Job job = job_of(from);
    TuneOptions as_recorded;
    as_recorded.quick = true;
    const auto result = tune({&job.workload}, as_recorded);
    ASSERT_TRUE(result);
    const Row& best = result->jobs.front().best;
    for (const RecordedRun& run : runs()) {
      if (run.workload != from.workload || run.ran_out || run.cap) continue;
      EXPECT_LE(best.outcome.peak_reserved, run.peak_reserved()) << run.name();
      ++compared;
    }
    EXPECT_GE(best.outcome.peak_reserved, result->jobs.front().lower_bound);
    EXPECT_GE(result->jobs.front().packing, result->jobs.front().lower_bound);
    std::printf("%-22s %10s, %.3f of the bound: %s\n", from.workload.c_str(),
                base::bytes_text(best.outcome.peak_reserved).c_str(),
                static_cast<double>(best.outcome.peak_reserved) /
                    static_cast<double>(result->jobs.front().lower_bound),
                best.conf.c_str());
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace ebb::replay
