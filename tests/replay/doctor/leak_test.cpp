// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/leak.h"

#include <gtest/gtest.h>

#include <map>

#include "replay/doctor/doctor_patient.h"
#include "trace/snapshot_reader.h"
#include "trace/steps.h"

namespace ebb::replay {
namespace {

std::optional<Leak> leak_in(const trace::Snapshot& snapshot) {
  const auto workload = workload_of(snapshot, {});
  EXPECT_TRUE(workload) << workload.error().message;
  return find_leak(snapshot, 0, *workload);
}

TEST(Leak, IsToldFromAnnotatedStepsThatKeepMemory) {
  Patient job;
  job.take(200 * kMiB);
  for (int step = 0; step < 10; ++step) {
    const std::string name = "ProfilerStep#" + std::to_string(step);
    job.annotate(name, true);
    // Steps of different sizes, which no pattern of requests would show.
    job.give(job.take((40 + 7 * static_cast<std::uint64_t>(step % 4)) * kMiB));
    job.take(5 * kMiB);
    job.annotate(name, false);
  }
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::leak);
  EXPECT_EQ(found.headline, "Every step keeps 5.0 MiB more alive than the one before");
  ASSERT_EQ(found.origins.size(), 1U);
  EXPECT_EQ(found.origins[0].bytes, 6 * 5 * kMiB) << "of the steps between the first and last two";
  EXPECT_EQ(*found.evidence.find("kind")->as_string(), "growth");
  EXPECT_EQ(found.fix.kind, fact::FixKind::code);
}

TEST(Leak, IsToldFromRepeatedRequestsToo) {
  Patient job;
  job.take(200 * kMiB);
  for (int step = 0; step < 12; ++step) {
    healthy_step(job);
    job.take(5 * kMiB);
  }
  const SnapshotDiagnosis found = examine(job.snapshot());
  EXPECT_EQ(found.verdict, Verdict::leak);
  ASSERT_TRUE(leak_in(job.snapshot()));
  EXPECT_EQ(leak_in(job.snapshot())->per_step, 5 * kMiB);
}

TEST(Leak, ThatFillsTheCardIsCapacityAndALeak) {
  Patient job({.limit = kGiB});
  job.take(200 * kMiB);
  std::vector<Address> held;
  for (int step = 0; step < 10; ++step) {
    healthy_step(job);
    held.push_back(job.take(46 * kMiB));
  }
  job.refuse(400 * kMiB);
  job.give_all(held);  // as a job does that ends
  const SnapshotDiagnosis found = examine(job.snapshot(), kGiB);
  EXPECT_EQ(found.verdict, Verdict::capacity);
  EXPECT_TRUE(has_also(found, Verdict::leak));
}

TEST(Leak, OfABlockThatIsReplacedByALargerOne) {
  Patient job;
  job.take(100 * kMiB);
  Address history = job.take(2 * kMiB);
  for (std::uint64_t step = 1; step <= 12; ++step) {
    healthy_step(job);
    const Address longer = job.take((2 + 3 * step) * kMiB);
    job.give(history);
    history = longer;
  }
  const auto leak = leak_in(job.snapshot());
  ASSERT_TRUE(leak);
  EXPECT_FALSE(leak->by_kept);
  EXPECT_EQ(leak->per_step, 3 * kMiB);
  EXPECT_EQ(leak->blocks.size(), 1U);
  EXPECT_EQ(examine(job.snapshot()).verdict, Verdict::leak);
}

TEST(Leak, IsNotASequenceThatGrowsAndEnds) {
  Patient job;
  job.take(100 * kMiB);
  for (int sequence = 0; sequence < 4; ++sequence) {
    std::vector<Address> keys;
    for (int token = 0; token < 5; ++token) {
      healthy_step(job);
      keys.push_back(job.take(5 * kMiB));
    }
    job.give_all(keys);
  }
  EXPECT_FALSE(leak_in(job.snapshot()));
}

TEST(Leak, IsNotStateThatTheFirstStepsMake) {
  Patient job;
  for (int step = 0; step < 10; ++step) {
    healthy_step(job);
    if (step < 2) job.take(150 * kMiB);
  }
  EXPECT_FALSE(leak_in(job.snapshot()));
}

TEST(Leak, NeedsSixSteps) {
  Patient job;
  for (int step = 0; step < 5; ++step) {
    healthy_step(job);
    job.take(5 * kMiB);
  }
  EXPECT_FALSE(leak_in(job.snapshot()));
}

/// A recorded job's own requests on the project's allocator, with a block on top for each step.
trace::Snapshot repeated(const trace::Snapshot& recorded, std::uint64_t kept) {
  Patient job;
  const trace::Steps steps = trace::find_steps(recorded, 0);
  std::map<trace::Address, Address> addresses;
  std::size_t next = 0;
  for (std::size_t i = 0; i < recorded.traces[0].size(); ++i) {
    const trace::Event& event = recorded.traces[0][i];
    if (next < steps.begins.size() && steps.begins[next] == i) {
      job.annotate("step", true);
      if (kept != 0) job.take(kept);
      job.annotate("step", false);
      ++next;
    }
    if (event.action == trace::Action::alloc) {
      addresses[event.address] = job.take(event.size, recorded.streams[event.stream]);
    } else if (event.action == trace::Action::free_requested) {
      job.give(addresses.at(event.address));
    }
  }
  return job.snapshot();
}

TEST(Leak, IsSeenInARecordedJobOnlyWhenItHasOne) {
  const auto recorded = trace::read_snapshot(std::string(EBB_TEST_DATA) +
                                             "/torch-2.11/runs/fl_resnet18.capgc60.pickle.gz");
  ASSERT_TRUE(recorded) << recorded.error().message;
  EXPECT_FALSE(leak_in(*recorded));
  EXPECT_FALSE(leak_in(repeated(*recorded, 0)));
  const auto leak = leak_in(repeated(*recorded, 256 * kKiB));
  ASSERT_TRUE(leak);
  EXPECT_GT(leak->events.size(), 50U);
  EXPECT_EQ(leak->per_step, 256 * kKiB);
}

}  // namespace
}  // namespace ebb::replay
