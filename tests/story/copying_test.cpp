// SPDX-License-Identifier: Apache-2.0
// Families of forked processes: what they copied, told from what they allocated.
#include "story/copying.h"

#include <gtest/gtest.h>

#include "story/job.h"

namespace ebb::story {
namespace {

using fact::Verdict;

constexpr double kData = 400;  ///< MiB that the parent made before the fork

/// A share of the data that grows from 0 to `most` between two moments.
Job::Curve ramp(double from, double until, double most) {
  return [=](double t) { return most * std::clamp((t - from) / (until - from), 0.0, 1.0); };
}

/// A parent and workers over one data set, read every five seconds.
class Household {
 public:
  /// `copied(i)`: MiB of the data that worker i has copied so far; `grown`: what each allocated.
  Household(int workers, std::function<Job::Curve(int)> copied, Job::Curve grown = level(0))
      : workers_(workers), copied_(std::move(copied)), grown_(std::move(grown)) {}

  record::RecordedRun recorded() {
    for (int i = 0; i <= workers_; ++i)
      add(i);
    return job_.recorded();
  }
  Job& job() { return job_; }

 private:
  void add(int number) {
    const record::ProcessKey key =
        job_.add(100 + number, "python3 train.py", {level(kData), level(50), level(5)});
    job_.batch().processes.back().parent = number == 0 ? 1 : 100;
    for (record::Sample& sample : job_.batch().samples) {
      if (sample.process != key) continue;
      fill(sample, number);
    }
  }

  /// Each page is shared by the parent and the workers that have not copied it. Workers copy in the
  /// same order, so that worker i + 1 has copied no more than worker i.
  void fill(record::Sample& sample, int number) const {
    const double t = sample.seconds;
    const auto own_copies = [&](int worker) { return copied_(worker)(t); };
    double pss = 0;
    const double unshared = number == 0 ? 0 : own_copies(number);
    // In steps of 1 MiB of the data.
    for (double at = 0; at < kData; ++at) {
      if (number != 0 && at < unshared) {
        pss += 1;
        continue;
      }
      int sharers = 1;
      for (int worker = 1; worker <= workers_; ++worker)
        sharers += at >= own_copies(worker) ? 1 : 0;
      pss += 1.0 / sharers;
    }
    const double grown = number == 0 ? 0 : grown_(t);
    const auto bytes = [](double mib) { return static_cast<std::uint64_t>(mib * 1048576); };
    sample.memory.anon = bytes(kData + grown);
    sample.memory.rss = sample.memory.anon;
    sample.memory.live = bytes(50 + grown);
    if (static_cast<int>(t) % 5 != 0) return;
    sample.memory.pss = bytes(pss + grown);
    sample.memory.shared = bytes(kData - pss);
    sample.memory.uss = bytes(unshared + grown);
  }

  Job job_{200};
  int workers_;
  std::function<Job::Curve(int)> copied_;
  Job::Curve grown_;
};

double mib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1048576;
}

TEST(Copying, IsMeasuredAndSaidHowFarItCanGo) {
  const record::RecordedRun run = Household(2, [](int) { return ramp(20, 60, 300); }).recorded();
  const std::vector<Copying> found = copying_in(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(mib(found[0].copied), 600, 10) << "each of two workers copied 300 MiB";
  EXPECT_NEAR(mib(found[0].still_shared), 200, 5) << "100 MiB, which three processes share";
  EXPECT_NEAR(mib(found[0].held_before), 400, 5);
  EXPECT_NEAR(mib(found[0].held_after), 1000, 10);
  EXPECT_NEAR(found[0].since, 20, 5);
  EXPECT_NEAR(found[0].until, 60, 5);
  EXPECT_TRUE(found[0].levels_off());
  const RunStory story = story_of(run);
  EXPECT_EQ(story.diagnosis.verdict, Verdict::copy_on_write);
  EXPECT_EQ(story.diagnosis.confidence, fact::Confidence::high);
  EXPECT_NE(story.diagnosis.headline.find("from 0 B to 300.0 MiB (copy-on-write)"),
            std::string::npos)
      << story.diagnosis.headline;
  for (const char* part : {"arrays", "gc.freeze()", "spawn", "forkserver"})
    EXPECT_NE(story.diagnosis.fix.text.find(part), std::string::npos) << part;
  for (const ProcessStory& one : story.processes) {
    EXPECT_EQ(one.diagnosis.verdict,
              one.process.pid == 100 ? Verdict::healthy : Verdict::copy_on_write);
  }
  const base::Json* evidence = story.diagnosis.evidence.find("copy_on_write");
  ASSERT_TRUE(evidence != nullptr && evidence->is_object());
  EXPECT_EQ(evidence->find("processes")->as_array()->size(), 3U);
  EXPECT_NEAR(evidence->find("copied_bytes")->as_double().value() / 1048576, 600, 10);
}

TEST(Copying, GoesOnUntilTheEnd) {
  const auto found = copying_in(Household(2, [](int) { return ramp(20, 400, 400); }).recorded());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].goes_on());
  EXPECT_NEAR(found[0].until, 200, 6);
}

TEST(Copying, IsNotWhatAWorkerAllocates) {
  const record::RecordedRun run = Household(
                                      2, [](int) { return level(0); }, growing(0, 1))
                                      .recorded();
  EXPECT_TRUE(copying_in(run).empty());
  const RunStory story = story_of(run);
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak) << story.diagnosis.headline;
  EXPECT_TRUE(story.diagnosis.evidence.find("copy_on_write")->is_null());
}

TEST(Copying, ALeakBesideItIsTheWorseOfTheTwo) {
  const RunStory story = story_of(Household(
                                      2, [](int) { return ramp(20, 60, 300); }, growing(0, 0.5))
                                      .recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak) << story.diagnosis.headline;
  EXPECT_EQ(story.diagnosis.also, std::vector<Verdict>{Verdict::copy_on_write});
}

TEST(Copying, OfFewPagesIsHealthy) {
  const RunStory story = story_of(Household(2, [](int) { return ramp(20, 60, 12); }).recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::healthy) << story.diagnosis.headline;
}

TEST(Copying, IsNotWhatIsLeftWhenAWorkerEnds) {
  // Its parent is left alone with its pages, and nothing was copied.
  Household family(1, [](int) { return level(0); });
  record::RecordedRun run = family.recorded();
  for (record::ProcessHistory& history : run.processes) {
    const bool is_worker = history.process.pid == 101;
    if (is_worker) history.process.ended = 102;
    std::erase_if(history.readings,
                  [&](const record::Reading& one) { return is_worker && one.seconds >= 102; });
    for (record::Reading& reading : history.readings) {
      if (is_worker || reading.seconds < 102 || !reading.shared) continue;
      reading.shared = record::Extent{};
      reading.pss = reading.uss = reading.anon;
    }
  }
  EXPECT_TRUE(copying_in(run).empty());
}

record::Extent extent(double mib) {
  const auto bytes = static_cast<std::uint64_t>(mib * 1048576);
  return {bytes, bytes, bytes};
}

/// A parent that forks a worker for every ten seconds, each of which is read once, in its middle.
record::RecordedRun workers_in_turn(int count, double copied, double allocated) {
  record::RecordedRun run;
  const auto add = [&](int pid, int parent, double from, double until) {
    record::ProcessHistory history;
    history.process.pid = pid;
    history.process.parent = parent;
    history.process.seconds = from;
    if (until > 0) history.process.ended = until;
    run.processes.push_back(std::move(history));
  };
  const auto read = [&](std::size_t index, double seconds, double anon,
                        std::optional<double> shared, double uss) {
    record::Reading reading;
    reading.seconds = reading.until = seconds;
    reading.rss = reading.anon = extent(anon);
    if (shared) {
      reading.shared = extent(*shared);
      reading.uss = extent(uss);
    }
    run.processes[index].readings.push_back(reading);
  };
  add(100, 1, 0, 0);
  read(0, 0, kData, std::nullopt, 0);
  for (int i = 0; i < count; ++i) {
    add(101 + i, 100, 10 * i + 1, 10 * i + 9);
    const double saved = (kData - copied) / 2;
    read(0, 10 * i + 5, kData, saved, copied);
    read(run.processes.size() - 1, 10 * i + 5, kData + allocated, saved, copied + allocated);
  }
  return run;
}

TEST(Copying, IsSeenInASingleReadingAfterAFork) {
  const auto found = copying_in(workers_in_turn(1, 300, 50));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(mib(found[0].copied), 300, 1) << "not what it allocated";
  EXPECT_FALSE(found[0].levels_off()) << "one reading does not tell";
  EXPECT_FALSE(found[0].goes_on());
  EXPECT_TRUE(copying_in(workers_in_turn(1, 0, 300)).empty());
}

TEST(Copying, OfWorkersThatFollowOneAnotherIsWhatWasThereAtOnce) {
  const auto found = copying_in(workers_in_turn(20, 60, 5));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(mib(found[0].copied), 60, 1);
  EXPECT_EQ(found[0].times, 20U);
  EXPECT_EQ(found[0].processes.size(), 2U);
  const auto little = copying_in(workers_in_turn(20, 10, 5));
  ASSERT_EQ(little.size(), 1U);
  EXPECT_FALSE(little[0].matters()) << "ten MiB each, and never more at once";
}

TEST(Copying, ThatNobodyKnowsTheOtherSideOfIsNotJudged) {
  // Somebody shares with them who was never read.
  record::RecordedRun run = workers_in_turn(3, 0, 0);
  for (record::Reading& reading : run.processes[0].readings)
    if (reading.shared) reading.shared = extent(kData * 2 / 3);
  EXPECT_TRUE(copying_in(run).empty());
}

TEST(Copying, IsNotWhatAParentFrees) {
  // What it lets go of becomes the worker's alone: no copy.
  Household family(1, [](int) { return level(0); });
  record::RecordedRun run = family.recorded();
  for (record::ProcessHistory& history : run.processes) {
    for (record::Reading& reading : history.readings) {
      if (reading.seconds < 100) continue;
      const bool is_worker = history.process.pid == 101;
      reading.anon = reading.rss = extent(is_worker ? kData : 10);
      if (!reading.shared) continue;
      reading.shared = extent(5);
      reading.pss = extent(is_worker ? kData - 5 : 5);
      reading.uss = extent(is_worker ? kData - 10 : 0);
    }
  }
  for (const Copying& one : copying_in(run))
    EXPECT_FALSE(one.matters()) << mib(one.copied);
}

TEST(Copying, ProcessesThatShareNothingAreNoFamily) {
  Job job;
  for (int i = 0; i < 3; ++i)
    job.add(7 + i, "worker", {level(100), level(80), level(5), {}, {}, level(100)});
  EXPECT_TRUE(copying_in(job.recorded()).empty());
}

TEST(Copying, ASingleReadingOfPssIsNotCalledAMost) {
  Job job;
  for (int i = 0; i < 2; ++i)
    job.add(7 + i, "worker", {level(100), level(80), level(5), {}, {}, level(60)});
  for (record::Sample& sample : job.batch().samples)
    if (sample.seconds != 10) sample.memory.pss.reset();
  const RunStory story = story_of(job.recorded());
  const auto& findings = story.diagnosis.findings;
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const std::string& line) {
    return line.find("pss 120.0 MiB when it was read, once") != std::string::npos;
  }));
  EXPECT_TRUE(std::none_of(findings.begin(), findings.end(), [](const std::string& line) {
    return line.find("at most") != std::string::npos;
  }));
}

}  // namespace
}  // namespace ebb::story
