// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/futures.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "replay/lifetimes.h"
#include "replay/tune/training_job.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

/// Every block is allocated before it is freed, and freed once at the most; other streams are done
/// with it after that.
void expect_sound(const Workload& work) {
  std::set<std::uint32_t> awaited;
  std::set<std::uint32_t> live;
  std::set<std::uint32_t> seen;
  std::uint64_t requests = 0;
  for (const Operation& op : work.operations) {
    if (op.kind == Kind::allocate) {
      ASSERT_TRUE(seen.insert(op.block).second);
      ASSERT_LT(op.block, work.blocks);
      ASSERT_GT(op.bytes, 0U);
      live.insert(op.block);
      ++requests;
    } else if (op.kind == Kind::free || op.kind == Kind::free_later) {
      ASSERT_EQ(live.erase(op.block), 1U);
      if (op.kind == Kind::free_later) awaited.insert(op.block);
      ++requests;
    } else if (op.kind == Kind::complete) {
      ASSERT_EQ(awaited.erase(op.block), 1U);
    }
  }
  EXPECT_EQ(work.requests, requests);
}

std::map<std::uint64_t, int> sizes_in(const Workload& work) {
  std::map<std::uint64_t, int> sizes;
  for (const Operation& op : work.operations) {
    if (op.kind == Kind::allocate) ++sizes[op.bytes];
  }
  return sizes;
}

TEST(Futures, AreSound) {
  for (const bool keeps : {false, true}) {
    TrainingJob job;
    job.keeps_gradients = keeps;
    const Workload recorded = job.run(varied_lengths(20));
    const FutureMaker maker(recorded);
    for (std::uint64_t number = 0; number < 6; ++number) {
      const Future future = maker.make(number, 4 * recorded.operations.size());
      SCOPED_TRACE(name_of(future.source));
      expect_sound(future.work);
      EXPECT_GE(future.work.operations.size(), 4 * recorded.operations.size());
      EXPECT_EQ(future.ends.back(), future.work.operations.size());
    }
  }
}

TEST(Futures, OfRandomJobsAreSound) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    RecordedJob job;
    run_randomly(job, seed, 600, 50);
    const Workload recorded = job.workload();
    const FutureMaker maker(recorded);
    for (std::uint64_t number = 0; number < 4; ++number) {
      expect_sound(maker.make(number, 3 * recorded.operations.size()).work);
    }
  }
}

TEST(Futures, RepeatWhatWasRecorded) {
  const Workload recorded = TrainingJob().run(std::vector<std::uint64_t>(12, 200));
  const FutureMaker maker(recorded);
  EXPECT_FALSE(maker.varies());
  const Future future = maker.make(0, 4 * recorded.operations.size());
  // The same peak of live memory to the byte, and the same requests as far as the recording goes.
  EXPECT_EQ(lower_bound_of(future.work).live, lower_bound_of(recorded).live);
  const std::uint32_t end = maker.steps().end;
  for (std::uint32_t at = 0; at < end; ++at) {
    ASSERT_EQ(future.work.operations[at].kind, recorded.operations[at].kind) << at;
    ASSERT_EQ(future.work.operations[at].block, recorded.operations[at].block) << at;
    ASSERT_EQ(future.work.operations[at].bytes, recorded.operations[at].bytes) << at;
  }
}

TEST(Futures, MakeWeightsAndTheStateOfAnOptimiserOnce) {
  const TrainingJob job;
  const Workload recorded = job.run(varied_lengths(20));
  const FutureMaker maker(recorded);
  for (std::uint64_t number = 0; number < 4; ++number) {
    const Future future = maker.make(number, 10 * recorded.operations.size());
    std::uint64_t floor = 0;  // weights and twice as much of the optimiser's
    for (const Lifetime& life : lifetimes_of(future.work)) {
      if (life.released == future.work.operations.size()) floor += life.bytes;
    }
    const std::uint64_t weights = static_cast<std::uint64_t>(job.layers) * job.weight;
    EXPECT_EQ(floor, 3 * weights) << number;
  }
}

TEST(Futures, GrowWhereTheJobLeaks) {
  TrainingJob job;
  job.leak = base::kMiB;
  const Workload recorded = job.run(varied_lengths(20));
  const Future future = FutureMaker(recorded).make(1, 4 * recorded.operations.size());
  EXPECT_GT(sizes_in(future.work)[base::kMiB], 60);
}

TEST(Futures, DoNotRepeatWhatOneStepHappenedToKeep) {
  RecordedJob whole;
  TrainingJob middle;
  middle.keeps_gradients = false;
  middle.run(whole, varied_lengths(8));
  whole.take(7 * base::kMiB);  // a workspace, made when something was used for the first time
  const std::vector<std::uint64_t> more = varied_lengths(8, 2);
  for (const std::uint64_t n : more) {
    const device::Address a = whole.take(n * middle.unit);
    const device::Address b = whole.take(3 * n * middle.unit);
    whole.give(b);
    whole.give(a);
  }
  const Workload recorded = whole.workload();
  const Future future = FutureMaker(recorded).make(1, 8 * recorded.operations.size());
  EXPECT_LE(sizes_in(future.work)[7 * base::kMiB], 1);
}

TEST(Futures, OfVariedLengthsHaveSizesThatWereNotRecorded) {
  const TrainingJob job;
  const Workload recorded = job.run(varied_lengths(20));
  const FutureMaker maker(recorded);
  ASSERT_EQ(maker.source_of(2), Source::lengthened);
  const std::map<std::uint64_t, int> known = sizes_in(recorded);
  int fresh = 0;
  for (const auto& [bytes, count] : sizes_in(maker.make(2, 4 * recorded.operations.size()).work)) {
    if (known.count(bytes) == 0) ++fresh;
  }
  EXPECT_GT(fresh, 20);
  const std::map<std::uint64_t, int> resampled =
      sizes_in(maker.make(1, 4 * recorded.operations.size()).work);
  for (const auto& [bytes, count] : resampled) {
    EXPECT_EQ(known.count(bytes), 1U) << "only what was recorded, in another order";
  }
}

TEST(Futures, BeginWithTheShorterOnesOfTheirNumber) {
  const Workload recorded = TrainingJob().run(varied_lengths(20));
  const FutureMaker maker(recorded);
  for (std::uint64_t number = 0; number < 3; ++number) {
    const Future brief = maker.make(number, 2 * recorded.operations.size());
    const Future longer = maker.make(number, 5 * recorded.operations.size());
    for (std::size_t i = 0; i < brief.work.operations.size(); ++i) {
      ASSERT_EQ(brief.work.operations[i].bytes, longer.work.operations[i].bytes);
      ASSERT_EQ(brief.work.operations[i].block, longer.work.operations[i].block);
    }
  }
}

TEST(Futures, CarryBlocksThatOtherStreamsUse) {
  RecordedJob job;
  std::vector<device::Address> waiting;
  for (int step = 0; step < 12; ++step) {
    const device::Address batch = job.take(6 * base::kMiB, 3);
    for (const device::Address block : waiting) {
      job.complete(block);
    }
    waiting.clear();
    const device::Address work = job.take((20 + static_cast<std::uint64_t>(step % 5)) * base::kMiB);
    job.give(work);
    job.give_later(batch);
    waiting.push_back(batch);
  }
  const Workload recorded = job.workload();
  const FutureMaker maker(recorded);
  const Future future = maker.make(1, 4 * recorded.operations.size());
  expect_sound(future.work);
  std::size_t completed = 0;
  for (const Operation& op : future.work.operations) {
    if (op.kind == Kind::complete) ++completed;
  }
  EXPECT_GT(completed, 20U);
}

TEST(Futures, WaitForNoStreamForGood) {
  RecordedJob job;
  job.take(10 * base::kMiB);
  for (int step = 0; step < 12; ++step) {
    const device::Address batch =
        job.take((6 + static_cast<std::uint64_t>(step % 5)) * base::kMiB, 3);
    job.give(job.take(20 * base::kMiB));
    job.give_later(batch);
    // The recording ends before the other stream is done with the last one.
    if (step < 11) job.complete(batch);
  }
  const Workload recorded = job.workload();
  const FutureMaker maker(recorded);
  ASSERT_TRUE(maker.steps().repeats);
  for (std::uint64_t number = 0; number < 4; ++number) {
    const Future future = maker.make(number, 20 * recorded.operations.size());
    expect_sound(future.work);
    std::int64_t waiting = 0;
    for (const Operation& op : future.work.operations) {
      if (op.kind == Kind::free_later) ++waiting;
      if (op.kind == Kind::complete) --waiting;
    }
    EXPECT_LE(waiting, 1) << number;
  }
}

TEST(Futures, WaitUntilTheRecordingsEndWhereNoStreamWasSeenToBeDone) {
  RecordedJob job;
  job.take(10 * base::kMiB);
  for (int step = 0; step < 12; ++step) {
    const device::Address batch =
        job.take((6 + static_cast<std::uint64_t>(step % 5)) * base::kMiB, 3);
    job.give(job.take(20 * base::kMiB));
    job.give_later(batch);
  }
  const Workload recorded = job.workload();
  const FutureMaker maker(recorded);
  const Future future = maker.make(0, 4 * recorded.operations.size());
  expect_sound(future.work);
  const std::uint32_t first_round = future.ends[maker.steps().count() - 1];
  std::set<std::uint32_t> recorded_blocks;
  std::size_t completed = 0;
  std::uint32_t last = 0;
  for (std::uint32_t at = 0; at < future.work.operations.size(); ++at) {
    const Operation& op = future.work.operations[at];
    if (op.kind == Kind::free_later && at < first_round) recorded_blocks.insert(op.block);
    if (op.kind != Kind::complete || recorded_blocks.count(op.block) == 0) continue;
    EXPECT_GE(at, first_round);
    ++completed;
    last = at;
  }
  EXPECT_GT(completed, 6U);
  EXPECT_EQ(completed, recorded_blocks.size());
  EXPECT_LT(last, future.ends[maker.steps().count()]) << "no guess became a rule for later steps";
}

TEST(Futures, CompleteNothingBeforeItIsFreed) {
  RecordedJob job;
  job.take(10 * base::kMiB);
  std::vector<device::Address> batches;
  for (std::size_t step = 0; step < 12; ++step) {
    batches.push_back(job.take((6 + step % 5) * base::kMiB, 3));
    job.give(job.take(20 * base::kMiB));
    job.give(job.take(30 * base::kMiB));
    if (step >= 2) job.give_later(batches[step - 2]);
    job.give(job.take(40 * base::kMiB));
  }
  const Workload recorded = job.workload();
  const FutureMaker maker(recorded);
  for (std::uint64_t number = 0; number < 4; ++number) {
    expect_sound(maker.make(number, 10 * recorded.operations.size()).work);
  }
}

TEST(Futures, OfAHostileRecordingAreMadeInTheTimeThatItsLengthTakes) {
  std::mt19937_64 random(1);
  Workload hostile;
  hostile.streams.resize(1);
  hostile.pools.resize(1);
  // Tens of thousands of blocks, no two alike, that a stream is never done with.
  while (hostile.operations.size() < 100'000) {
    std::vector<std::uint32_t> step;
    for (std::uint64_t left = 10 + random() % 3; left > 0; --left) {
      Operation op;
      op.bytes = 512 + random() % (1 << 26);
      op.block = hostile.blocks++;
      step.push_back(op.block);
      hostile.operations.push_back(op);
    }
    for (const std::uint32_t block : step) {
      Operation op;
      op.kind = Kind::free_later;
      op.block = block;
      hostile.operations.push_back(op);
    }
  }
  hostile.requests = hostile.operations.size();
  const FutureMaker maker(hostile);
  EXPECT_GT(maker.steps().count(), 1000U);
  expect_sound(maker.make(1, hostile.operations.size()).work);
}

}  // namespace
}  // namespace ebb::replay
