// SPDX-License-Identifier: Apache-2.0
#include "story/last_memory.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "base/bytes.h"
#include "story/job.h"

namespace ebb::story {
namespace {

using base::kMiB;

/// A job of 100 seconds whose group is looked at every second: `anon` MiB of it anonymous.
Job job_in_group(const Job::Curve& anon, double limit = 256) {
  Job job(100);
  job.run().ending = fact::RunEnd::out_of_memory;
  job.run().signal = SIGKILL;
  for (double t = 0; t < 99; ++t) {
    record::PlaceSample place;
    place.seconds = t;
    place.limit = static_cast<std::uint64_t>(limit) * kMiB;
    place.group.anon = static_cast<std::uint64_t>(anon(t)) * kMiB;
    place.group.shmem = 20 * kMiB;
    place.group.cache = 10 * kMiB;
    place.group.dirty = 4 * kMiB;
    place.group.kernel = 3 * kMiB;
    place.group.usage = *place.group.anon + 34 * kMiB;
    job.batch().places.push_back(place);
  }
  return job;
}

fact::MemorySplit memory_of(const Job& job) {
  const RunStory story = story_of(job.recorded());
  EXPECT_TRUE(story.memory);
  return story.memory.value_or(fact::MemorySplit{});
}

TEST(LastMemory, IsSplitAsItWasAtTheLastSample) {
  Job job = job_in_group(growing(100, 1));
  job.add(7, "a", {growing(100, 1), growing(60, 1), level(30)});
  const fact::MemorySplit split = memory_of(job);
  EXPECT_EQ(split.seconds, 98);
  EXPECT_EQ(split.age, 1.0);
  EXPECT_EQ(split.usage, 232 * kMiB);
  EXPECT_EQ(split.limit, 256 * kMiB);
  EXPECT_NEAR(double(split.live.value_or(0)) / kMiB, 158, 2);
  EXPECT_EQ(split.retained, 30 * kMiB);
  EXPECT_EQ(split.tmpfs, 20 * kMiB);
  EXPECT_EQ(split.cache_dirty, 4 * kMiB);
  EXPECT_EQ(split.cache_clean, 6 * kMiB);
  EXPECT_EQ(split.kernel_other, 3 * kMiB);
  ASSERT_EQ(split.processes.size(), 1U);
  EXPECT_EQ(split.processes[0].pid, 7);
  EXPECT_FALSE(split.after);
}

TEST(LastMemory, TellsWhatCameAfterwardsWhereTheKernelSaidSo) {
  Job job = job_in_group(growing(100, 1));
  job.add(7, "a", {growing(100, 1), growing(60, 1), level(30)});
  fact::Death death;
  death.by = fact::Killer::cgroup;
  death.signal = SIGKILL;
  death.memory.usage = 256 * kMiB;
  job.run().death = death;
  EXPECT_EQ(memory_of(job).after, static_cast<std::int64_t>(24 * kMiB));
}

TEST(LastMemory, IsThatOfBeforeTheKill) {
  // Seen at the end, when the group had given back what it held.
  Job job = job_in_group([](double t) { return t < 98 ? 100 + t : 4; });
  job.add(7, "a", {growing(100, 1), growing(60, 1), level(30)});
  job.batch().events.push_back({98, "oom_kill", "the kernel killed a process", {}});
  fact::Death death;
  death.by = fact::Killer::cgroup;
  death.signal = SIGKILL;
  job.run().death = death;
  EXPECT_EQ(memory_of(job).seconds, 97);
  EXPECT_EQ(memory_of(job).usage, 231 * kMiB);
  // A worker that was killed and replaced long ago: the job went on.
  for (const fact::Killer by : {fact::Killer::sender, fact::Killer::systemd_oomd}) {
    job.run().death->by = by;
    EXPECT_EQ(memory_of(job).seconds, 98) << fact::name_of(by);
  }
}

TEST(LastMemory, SaysHowOldTheHeapsOwnWordIs) {
  Job job = job_in_group(growing(100, 1));
  const auto key = job.add(7, "a", {growing(100, 1), growing(60, 1), level(30)});
  for (record::Sample& sample : job.batch().samples) {
    if (sample.process != key || sample.seconds < 50) continue;
    sample.memory.live.reset();
    sample.memory.retained.reset();
  }
  const fact::MemorySplit split = memory_of(job);
  ASSERT_FALSE(split.notes.empty());
  EXPECT_NE(split.notes.front().find("process 7 grew by 48.6 MiB "), std::string::npos)
      << split.notes.front();
  EXPECT_NE(split.notes.front().find("in the 49.0 s since its allocator last said"),
            std::string::npos)
      << split.notes.front();
}

TEST(LastMemory, TakesSamplesForWhatCameSinceTheHeapsOwnWord) {
  Job job = job_in_group(growing(100, 1));
  const auto key = job.add(7, "a", {growing(100, 1), growing(60, 1), level(10)});
  for (record::Sample& sample : job.batch().samples) {
    if (sample.process != key || sample.seconds < 50) continue;
    sample.memory.live.reset();
    sample.memory.retained.reset();
  }
  // Of the 48 MiB that came 40 MiB were seen; what was freed since would be no number below 0.
  record::RecordedRun run = job.recorded();
  const auto look = [&](double seconds, std::uint64_t mib) {
    run.samplings.push_back({key, seconds, mib * kMiB, 1000, 0, 0, 0.1});
  };
  look(49, 100);
  look(97, 140);
  const fact::MemorySplit split = story_of(run).memory.value_or(fact::MemorySplit{});
  EXPECT_NEAR(double(split.live.value_or(0)) / kMiB, 109 + 40, 2);
  ASSERT_GE(split.notes.size(), 2U);
  EXPECT_EQ(split.notes[0],
            "live: 40.0 MiB of it in process 7 by samples of its allocations, of the 49.0 s since "
            "its allocator last said what it holds");
  EXPECT_NE(split.notes[1].find("unexplained: process 7 grew by 8."), std::string::npos)
      << split.notes[1];
  run.samplings.back().bytes = 90 * kMiB;
  EXPECT_NEAR(double(story_of(run).memory->live.value_or(0)) / kMiB, 109, 2);
}

TEST(LastMemory, LeavesOutProcessesThatHadEnded) {
  Job job = job_in_group(level(100));
  job.add(7, "a", {level(100), level(90), level(1)});
  job.add(8, "b", {level(80), level(70), level(1)}, 0, 50);
  EXPECT_EQ(memory_of(job).processes.size(), 1U);
}

TEST(LastMemory, NamesTheFixOfAJobThatRanOutBeforeATrendCouldBeSeen) {
  Job job = job_in_group(level(200));
  job.add(7, "a", {level(200), level(60), level(130)}, 95);
  const RunStory story = story_of(job.recorded());
  EXPECT_EQ(story.diagnosis.verdict, fact::Verdict::not_enough_data);
  EXPECT_EQ(story.diagnosis.fix.text, "130.0 MiB retained: a cleanup would have carried it on");
}

TEST(LastMemory, NamesNoCleanupWhereOneHadReturnedNothing) {
  Job job = job_in_group(level(200));
  const auto key = job.add(7, "a", {level(200), level(60), level(130)}, 95);
  job.clean(key, 96, level(200), level(1));
  EXPECT_EQ(memory_of(job).fix.kind, fact::FixKind::cleanup) << "nobody knows what had stayed";
  fact::Cleanup& cleanup = job.batch().actions.back().cleanup;
  cleanup.after.retained = 130 * kMiB;
  EXPECT_EQ(memory_of(job).fix.kind, fact::FixKind::settings);
  EXPECT_EQ(memory_of(job).fix.text,
            "130.0 MiB retained in pieces, of which a cleanup had returned 1.0 MiB: try an "
            "allocator that keeps less (ebb run --allocator)");
  cleanup.after.retained = 30 * kMiB;
  EXPECT_EQ(memory_of(job).fix.kind, fact::FixKind::cleanup) << "the rest came since";
  cleanup.after.retained = 130 * kMiB;
  cleanup.returned = 40 * kMiB;
  EXPECT_EQ(memory_of(job).fix.kind, fact::FixKind::cleanup) << "it does return some";
}

TEST(LastMemory, IsOfRunsThatWereKilledAlone) {
  Job job = job_in_group(level(100));
  job.add(7, "a", {level(100), level(90), level(1)});
  job.run().ending = fact::RunEnd::exit;
  job.run().exit_code = 0;
  job.run().signal.reset();
  EXPECT_FALSE(story_of(job.recorded()).memory);
  Job nowhere(100);
  nowhere.run().ending = fact::RunEnd::out_of_memory;
  nowhere.add(7, "a", {level(100)});
  EXPECT_FALSE(story_of(nowhere.recorded()).memory) << "no group was looked at";
}

}  // namespace
}  // namespace ebb::story
