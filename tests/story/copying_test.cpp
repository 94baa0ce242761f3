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
class Family {
 public:
  /// `copied(i)`: MiB of the data that worker i has copied so far; `grown`: what each allocated.
  Family(int workers, std::function<Job::Curve(int)> copied, Job::Curve grown = level(0))
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
  const record::RecordedRun run = Family(2, [](int) { return ramp(20, 60, 300); }).recorded();
  const std::vector<Copying> found = copying_in(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(mib(found[0].copied), 600, 10) << "each of two workers copied 300 MiB";
  EXPECT_NEAR(mib(found[0].still_shared), 200, 5) << "100 MiB, which three processes share";
  EXPECT_NEAR(mib(found[0].pss_before), 400, 5);
  EXPECT_NEAR(mib(found[0].pss_after), 1000, 10);
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
  const auto found = copying_in(Family(2, [](int) { return ramp(20, 400, 400); }).recorded());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].levels_off());
  EXPECT_NEAR(found[0].until, 200, 6);
}

TEST(Copying, IsNotWhatAWorkerAllocates) {
  const record::RecordedRun run = Family(
                                      2, [](int) { return level(0); }, growing(0, 1))
                                      .recorded();
  EXPECT_TRUE(copying_in(run).empty());
  const RunStory story = story_of(run);
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak) << story.diagnosis.headline;
  EXPECT_TRUE(story.diagnosis.evidence.find("copy_on_write")->is_null());
}

TEST(Copying, ALeakBesideItIsTheWorseOfTheTwo) {
  const RunStory story = story_of(Family(
                                      2, [](int) { return ramp(20, 60, 300); }, growing(0, 0.5))
                                      .recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::leak) << story.diagnosis.headline;
  EXPECT_EQ(story.diagnosis.also, std::vector<Verdict>{Verdict::copy_on_write});
}

TEST(Copying, OfFewPagesIsHealthy) {
  const RunStory story = story_of(Family(2, [](int) { return ramp(20, 60, 12); }).recorded());
  EXPECT_EQ(story.diagnosis.verdict, Verdict::healthy) << story.diagnosis.headline;
}

TEST(Copying, IsNotConcludedWhereAWorkerEnds) {
  // Its parent is left alone with its pages, and nothing was copied.
  Family family(1, [](int) { return level(0); });
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

TEST(Copying, IsNotWhatAParentFrees) {
  // What it lets go of becomes the worker's alone: no copy.
  Family family(1, [](int) { return level(0); });
  record::RecordedRun run = family.recorded();
  const auto all = [](double mib) {
    const auto bytes = static_cast<std::uint64_t>(mib * 1048576);
    return record::Extent{bytes, bytes, bytes};
  };
  for (record::ProcessHistory& history : run.processes) {
    for (record::Reading& reading : history.readings) {
      if (reading.seconds < 100) continue;
      const bool is_worker = history.process.pid == 101;
      reading.anon = reading.rss = all(is_worker ? kData : 10);
      if (!reading.shared) continue;
      reading.shared = all(5);
      reading.pss = all(is_worker ? kData - 5 : 5);
      reading.uss = all(is_worker ? kData - 10 : 0);
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
