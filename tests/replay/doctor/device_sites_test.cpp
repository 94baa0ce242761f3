// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/device_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "replay/doctor/doctor_patient.h"

namespace ebb::replay {
namespace {

using Kind = DeviceHolder::Kind;

/// A program of three lines: load() and step() of train.py, and a layer that calls itself.
trace::Snapshot with_calls(trace::Snapshot snapshot) {
  snapshot.texts = {"load",     "step",          "forward",
                    "<module>", "/job/train.py", "/v/site-packages/torch/nn/linear.py"};
  snapshot.frames = {{0, 4, 7}, {1, 4, 42}, {2, 5, 125}, {3, 4, 99}};
  snapshot.stacks = {{0, 3}, {1, 3}, {2, 1, 3}, {2, 2, 1, 3}};
  return snapshot;
}

constexpr trace::Index kLoad = 0;
constexpr trace::Index kStep = 1;
constexpr trace::Index kLayer = 2;
constexpr trace::Index kDeepLayer = 3;

/// Gives every allocation the stack that its size stands for.
trace::Snapshot with_stacks(Patient& job, const std::map<std::uint64_t, trace::Index>& by_size) {
  trace::Snapshot snapshot = with_calls(job.snapshot());
  for (trace::Event& event : snapshot.traces[0]) {
    const auto stack = by_size.find(event.size);
    const bool is_known = event.action == trace::Action::alloc && stack != by_size.end();
    event.stack = is_known ? stack->second : trace::kNone;
  }
  for (trace::Segment& segment : snapshot.segments)
    for (trace::Block& block : segment.blocks)
      block.stack = trace::kNone;
  return snapshot;
}

DeviceSites sites_at_end(const trace::Snapshot& snapshot) {
  const auto workload = workload_of(snapshot, {});
  EXPECT_TRUE(workload);
  const auto last = static_cast<std::uint32_t>(workload->operations.size() - 1);
  return device_sites(snapshot, 0, *workload, HeldAt::end, last);
}

std::vector<std::string> places_of(const DeviceSites& sites) {
  std::vector<std::string> places;
  for (const DeviceSite& site : sites.sites)
    places.push_back(fact::place_of(site.frames));
  return places;
}

const DeviceHolder* holder_of(const DeviceSites& sites, Kind kind) {
  for (const DeviceHolder& holder : sites.holders)
    if (holder.kind == kind) return &holder;
  return nullptr;
}

TEST(DeviceSites, AreLinesThatHoldMostFirstAndNotWhatHasNoStack) {
  Patient job;
  job.take(10 * kMiB);
  job.take_all(2, 20 * kMiB);
  job.give(job.take(40 * kMiB));
  job.take(30 * kMiB);
  const DeviceSites sites =
      sites_at_end(with_stacks(job, {{10 * kMiB, kLoad}, {20 * kMiB, kStep}, {40 * kMiB, kLayer}}));
  EXPECT_TRUE(sites.has_stacks);
  EXPECT_EQ(places_of(sites), (std::vector<std::string>{"train.py:42 step", "train.py:7 load"}));
  EXPECT_EQ(sites.sites[0].held.bytes, 40 * kMiB);
  EXPECT_EQ(sites.sites[0].held.blocks, 2U);
  EXPECT_DOUBLE_EQ(sites.sites[0].share, 0.5);
  EXPECT_FALSE(sites.sites[0].growth);
  EXPECT_EQ(sites.live.bytes, 80 * kMiB);
  EXPECT_EQ(sites.live.blocks, 4U);
  EXPECT_EQ(sites.no_stack.bytes, 30 * kMiB);
  EXPECT_EQ(sites.no_stack.blocks, 1U);
  EXPECT_EQ(sites.before_history.blocks, 0U);
  ASSERT_TRUE(sites.sites[0].since && sites.sites[1].since);
  EXPECT_LT(*sites.sites[1].since, *sites.sites[0].since) << "load() came first";
}

TEST(DeviceSites, OfManyStacksThroughOneLineAreOneWithTheCallsTheyShare) {
  Patient job;
  job.take_all(60, kMiB);
  job.take_all(60, 2 * kMiB);
  const DeviceSites sites =
      sites_at_end(with_stacks(job, {{kMiB, kLayer}, {2 * kMiB, kDeepLayer}}));
  ASSERT_EQ(places_of(sites), std::vector<std::string>{"train.py:42 step"});
  EXPECT_EQ(sites.sites[0].held.bytes, 180 * kMiB);
  ASSERT_EQ(sites.sites[0].frames.size(), 3U) << "forward() once: all stacks have that";
  EXPECT_EQ(sites.sites[0].frames[0].function, "forward");
  EXPECT_EQ(sites.sites[0].frames[2].function, "<module>");
  EXPECT_FALSE(sites.sites[0].has_other_callers) << "<module> called all";
  ASSERT_EQ(sites.holders.size(), 2U) << "stacks by themselves, for a flame graph";
  EXPECT_EQ(sites.holders[0].frames.size(), 4U);
  EXPECT_EQ(sites.holders[1].frames.size(), 3U);
}

TEST(DeviceSites, OfALineWithSeveralCallersEndWhereTheyDiffer) {
  Patient job;
  job.take(10 * kMiB);
  job.take(20 * kMiB);
  trace::Snapshot snapshot = with_stacks(job, {{10 * kMiB, kStep}, {20 * kMiB, kLoad}});
  snapshot.stacks[kLoad] = {1, 0, 3};  // load() calls step() too
  const DeviceSites sites = sites_at_end(snapshot);
  ASSERT_EQ(places_of(sites), std::vector<std::string>{"train.py:42 step"});
  EXPECT_EQ(sites.sites[0].held.bytes, 30 * kMiB);
  EXPECT_EQ(sites.sites[0].frames.size(), 1U);
  EXPECT_TRUE(sites.sites[0].has_other_callers);
}

TEST(DeviceSites, OfWhatWasAllocatedBeforeTheHistoryAreThoseWhoseStackIsLeft) {
  Patient job;
  job.take(50 * kMiB);
  job.take(30 * kMiB);
  job.core().record_history({.clear = true});
  job.take(10 * kMiB);
  trace::Snapshot snapshot = with_stacks(job, {{10 * kMiB, kStep}});
  for (trace::Segment& segment : snapshot.segments)
    for (trace::Block& block : segment.blocks)
      if (block.size == 50 * kMiB) block.stack = kLoad;
  const DeviceSites sites = sites_at_end(snapshot);
  EXPECT_EQ(places_of(sites), (std::vector<std::string>{"train.py:7 load", "train.py:42 step"}));
  EXPECT_EQ(sites.sites[0].since, 0);
  EXPECT_EQ(sites.before_history.bytes, 30 * kMiB);
  EXPECT_EQ(sites.before_history.blocks, 1U);
  EXPECT_EQ(sites.no_stack.blocks, 0U);
  const DeviceHolder* const before = holder_of(sites, Kind::before_history);
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->bytes, 30 * kMiB);
  EXPECT_EQ(before->over_time, (std::vector<std::uint64_t>(sites.moments.size(), 30 * kMiB)));
}

TEST(DeviceSites, OfAHistoryWithoutStacksAreNone) {
  Patient job;
  job.take(50 * kMiB);
  const DeviceSites sites = sites_at_end(job.snapshot());
  EXPECT_FALSE(sites.has_stacks);
  EXPECT_TRUE(sites.sites.empty());
  EXPECT_TRUE(sites.holders.empty());
  EXPECT_EQ(sites.no_stack.bytes, 50 * kMiB) << "counted all the same";
  base::Json json;
  add_json(json, sites);
  EXPECT_TRUE(json.find("sites")->is_null());
  EXPECT_EQ(json.find("live")->find("no_stack_bytes")->as_unsigned(), 50 * kMiB);
}

/// Keeps `kept` bytes more in each of twelve steps.
Patient& leaking(Patient& job, std::uint64_t kept) {
  job.take(200 * kMiB);
  for (int step = 0; step < 12; ++step) {
    const std::string name = "ProfilerStep#" + std::to_string(step);
    job.annotate(name, true);
    job.give(job.take((40 + 7 * static_cast<std::uint64_t>(step % 4)) * kMiB));
    job.take(kept);
    job.annotate(name, false);
  }
  return job;
}

TEST(DeviceSites, ThatEveryStepLeavesBehindGrowAndTheVerdictNamesThem) {
  Patient job;
  const trace::Snapshot snapshot =
      with_stacks(leaking(job, 5 * kMiB), {{200 * kMiB, kLoad}, {5 * kMiB, kStep}});
  const SnapshotDiagnosis found = examine(snapshot);
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.headline,
            "Every step keeps 5.0 MiB more alive than the one before; +5.0 MiB/step at "
            "train.py:42 step, 100 % of the growth");
  EXPECT_EQ(found.fix.text, "Look at what train.py:42 step allocates and nothing frees");
  EXPECT_EQ(found.sites.at, HeldAt::end);
  ASSERT_EQ(places_of(found.sites),
            (std::vector<std::string>{"train.py:42 step", "train.py:7 load"}))
      << "what grows comes first";
  const DeviceSite& site = found.sites.sites[0];
  EXPECT_EQ(site.held.bytes, 60 * kMiB) << "at the end";
  ASSERT_TRUE(site.growth);
  EXPECT_DOUBLE_EQ(site.growth->per_step, 5 * kMiB);
  EXPECT_DOUBLE_EQ(site.growth->share, 1);
  EXPECT_FALSE(found.sites.sites[1].growth);
  ASSERT_TRUE(found.sites.step_seconds) << "the patient's clock goes on";
  const base::Json json = to_json(found);
  const base::Json& first = json.find("sites")->as_array()->front();
  EXPECT_EQ(first.find("growth_bytes_per_step")->as_double(), 5.0 * kMiB);
  EXPECT_NEAR(*first.find("growth_bytes_per_second")->as_double() * *found.sites.step_seconds,
              5.0 * kMiB, 1);
  EXPECT_EQ(*first.find("frames")->as_array()->front().find("function")->as_string(), "step");
}

TEST(DeviceSites, ThatAreALittleOfALeakAreNotWhatToLookAt) {
  Patient job;
  job.take(200 * kMiB);
  for (int step = 0; step < 12; ++step) {
    healthy_step(job);
    job.take(5 * kMiB);
    job.take(3 * kMiB);
  }
  const SnapshotDiagnosis found = examine(with_stacks(job, {{3 * kMiB, kStep}}));
  EXPECT_EQ(found.headline,
            "Every step keeps 8.0 MiB more alive than the one before; +3.0 MiB/step at "
            "train.py:42 step, 38 % of the growth");
  EXPECT_EQ(found.fix.text, "Free what these places allocate in every step");
}

TEST(DeviceSites, HoldAtTheBeginningOfEveryStepWhatTheyHeldThere) {
  Patient job;
  const DeviceSites sites =
      sites_at_end(with_stacks(leaking(job, 5 * kMiB), {{200 * kMiB, kLoad}, {5 * kMiB, kStep}}));
  ASSERT_EQ(sites.moments.size(), 14U) << "the beginning, twelve steps and the end";
  EXPECT_EQ(sites.moments.front(), 0U);
  EXPECT_EQ(sites.moments[1], 1U);
  EXPECT_EQ(sites.moments.back(), 1U + 12 * 3);
  const DeviceHolder* const step = &*std::find_if(
      sites.holders.begin(), sites.holders.end(),
      [](const DeviceHolder& one) { return fact::place_of(one.frames) == "train.py:42 step"; });
  for (std::size_t i = 1; i < 14; ++i)
    EXPECT_EQ(step->over_time[i], (i - 1) * 5 * kMiB) << i;
  EXPECT_DOUBLE_EQ(step->per_step, 5 * kMiB);
}

TEST(DeviceSites, GrowTogetherWhereEachStackOfALineIsTooLittle) {
  Patient job;
  job.take(1000 * kMiB);
  for (std::uint64_t step = 0; step < 12; ++step) {
    healthy_step(job);
    for (std::uint64_t part = 1; part <= 20; ++part)
      job.take(part * 64 * kKiB);
  }
  trace::Snapshot snapshot = with_calls(job.snapshot());
  for (trace::Index part = 1; part <= 20; ++part) {
    snapshot.frames.push_back({2, 5, 1000 + part});
    snapshot.stacks.push_back({static_cast<trace::Index>(snapshot.frames.size() - 1), 1, 3});
  }
  for (trace::Event& event : snapshot.traces[0]) {
    const bool is_part = event.action == trace::Action::alloc && event.size <= 20 * 64 * kKiB;
    event.stack = is_part ? static_cast<trace::Index>(3 + event.size / (64 * kKiB)) : trace::kNone;
  }
  const DeviceSites sites = sites_at_end(snapshot);
  ASSERT_EQ(places_of(sites), std::vector<std::string>{"train.py:42 step"});
  ASSERT_TRUE(sites.sites[0].growth);
  EXPECT_DOUBLE_EQ(sites.sites[0].growth->per_step, 210 * 64.0 * kKiB);
  EXPECT_EQ(sites.growing_place()->text, "train.py:42 step");
}

TEST(DeviceSites, OfAHealthyJobDoNotGrow) {
  Patient job;
  job.take(200 * kMiB);
  for (int step = 0; step < 12; ++step)
    healthy_step(job);
  const DeviceSites sites =
      sites_at_end(with_stacks(job, {{200 * kMiB, kLoad}, {22 * kMiB, kStep}}));
  EXPECT_FALSE(sites.growing_place());
  EXPECT_EQ(places_of(sites), std::vector<std::string>{"train.py:7 load"});
}

TEST(DeviceSites, OfAFailureAreThoseThatHeldMemoryThen) {
  Patient job({.limit = kGiB});
  const Address most = job.take(700 * kMiB);
  job.take(100 * kMiB);
  job.refuse(400 * kMiB);
  job.give(most);  // as a job does that ends
  const trace::Snapshot snapshot =
      with_stacks(job, {{700 * kMiB, kLoad}, {100 * kMiB, kStep}, {400 * kMiB, kLayer}});
  const SnapshotDiagnosis found = examine(snapshot, kGiB);
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_EQ(found.sites.at, HeldAt::failure);
  EXPECT_EQ(places_of(found.sites),
            (std::vector<std::string>{"train.py:7 load", "train.py:42 step"}));
  EXPECT_EQ(found.sites.live.bytes, 800 * kMiB) << "not what was refused";
}

TEST(DeviceSites, OfManyStepsHaveAFewMomentsAndTheSameGrowth) {
  Patient job;
  job.take(10 * kMiB);
  for (int step = 0; step < 500; ++step) {
    healthy_step(job);
    job.take(kMiB);
  }
  const DeviceSites sites = sites_at_end(with_stacks(job, {{10 * kMiB, kLoad}, {kMiB, kStep}}));
  EXPECT_LE(sites.moments.size(), 123U);
  ASSERT_TRUE(sites.growing_place());
  EXPECT_EQ(sites.growing_place()->text, "train.py:42 step");
  EXPECT_DOUBLE_EQ(sites.growing_place()->per_step, kMiB);
  EXPECT_EQ(sites.sites[0].growth->confidence, fact::Confidence::high);
}

}  // namespace
}  // namespace ebb::replay
