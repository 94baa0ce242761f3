// SPDX-License-Identifier: Apache-2.0
// Disks that are full, databases that are locked or go away, processes that are killed: they may
// cost samples, never the file or whoever writes it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "record/backlog.h"
#include "record/runs.h"
#include "record/schema.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace ebb::record {
namespace {

/// Adds samples until `holds` says true of the writer.
template <class Holds>
int add_until(Writer& writer, int from, Holds&& holds) {
  for (int i = from;; ++i) {
    writer.add(sample_of(kMain, i, kMiB));
    if (holds()) return i + 1;
    usleep(2000);
  }
}

std::string trouble_of(Writer& writer, int& next) {
  std::string trouble;
  next = add_until(writer, next, [&] { return !(trouble = writer.take_trouble()).empty(); });
  return trouble;
}

std::size_t samples_in(const std::string& path, const std::string& run = "last") {
  const RecordedRun found = read(path, run);
  return found.processes.empty() ? 0 : found.processes[0].readings.size();
}

std::uint64_t samples_told(const std::string& path) {
  return read(path).summary.samples;
}

/// Kills a process that records into `path` at a moment when it has written; of how many seconds
/// before that the record then knows nothing.
double seconds_lost_by_a_kill(const std::string& path) {
  struct Shared {
    std::atomic<int> added{0};
    std::int64_t added_ns[100'000]{};
  };
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* shared = new (memory) Shared;
  support::wait_until_alone();
  const pid_t child = fork();
  if (child == 0) {
    auto writer = Writer::begin(path, run_named("killed"));
    if (!writer) _exit(1);
    for (int i = 0; i < 100'000; ++i) {
      (*writer)->add(sample_of(kMain, i, kMiB));
      shared->added_ns[i] = base::system_clock().now_ns();
      shared->added = i + 1;
      usleep(2000);
    }
    _exit(2);
  }
  // Not before it has written at least twice.
  while (shared->added == 0 || samples_in(path) < 100)
    usleep(20'000);
  kill(child, SIGKILL);
  const std::int64_t killed_ns = base::system_clock().now_ns();
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));

  EXPECT_EQ(integrity(path), "ok");
  const RecordedRun found = read(path);
  EXPECT_EQ(found.summary.state, State::lost);
  EXPECT_FALSE(found.summary.run.ended);
  const auto added = static_cast<std::size_t>(shared->added);
  const std::size_t kept = found.processes.at(0).readings.size();
  EXPECT_LE(kept, added);
  const double lost = kept >= added ? 0 : base::seconds_between(shared->added_ns[kept], killed_ns);
  munmap(memory, sizeof(Shared));
  return lost;
}

TEST(RecordFaults, AKilledWriterLosesAboutASecondAndTheFileIsWhole) {
  const support::TemporaryDirectory folder;
  constexpr double kMost = 2;
  double lost = kMost + 1;
  std::string path;
  // One second by design. Where the machine or its disk stands still beside that, it is no trial.
  for (int i = 0; i < 20 && lost > kMost && !testing::Test::HasFailure(); ++i) {
    path = folder / (std::to_string(i) + ".db");
    lost = seconds_lost_by_a_kill(path);
  }
  EXPECT_LE(lost, kMost);

  const auto next = begin(path, run_named("next"));
  next->end(ended(run_named("next")));
  EXPECT_EQ(opened(path).runs()->size(), 2U) << "and the file goes on";
}

/// Runs `test` in a child, so that limits and mounts end with it; what it returns must be "".
template <class Test>
void expect_fine_in_child(Test&& test) {
  support::wait_until_alone();
  EXPECT_EQ(support::said_by_child([&] { return test(); }), "");
}

/// Writes to `path`, where only some hundred KiB fit, until that fails; makes room; goes on.
template <class MakeRoom>
std::string outlive_a_full_disk(const std::string& path, MakeRoom&& make_room) {
  auto writer = Writer::begin(path, run_named("full"));
  if (!writer) return "no start: " + writer.error().message;
  int next = 0;
  std::string trouble;
  for (; trouble.empty(); trouble = (*writer)->take_trouble()) {
    for (int i = 0; i < 500; ++i)
      (*writer)->add(sample_of(kMain, next++, kMiB));
    usleep(5000);
  }
  if (trouble.find("not recorded for now: ") != 0) return "told: " + trouble;
  if (integrity(path) != "ok") return "full: " + integrity(path);
  make_room();
  const std::uint64_t before = samples_told(path);
  while (samples_told(path) <= before) {
    (*writer)->add(sample_of(kMain, next++, kMiB));
    usleep(5000);
  }
  (*writer)->end(ended(run_named("full"), 5));
  const RecordedRun found = read(path);
  if (found.summary.run.exit_code != 5) return "no ending";
  const auto& readings = found.processes.at(0).readings;
  if (readings.back().until != next - 1) return "the newest sample is missing";
  if (found.summary.samples + found.summary.lost != static_cast<std::uint64_t>(next))
    return "samples and lost ones do not add up";
  return integrity(path) == "ok" ? "" : "after: " + integrity(path);
}

TEST(RecordFaults, AFullDiskCostsSamplesOnly) {
  const support::TemporaryDirectory folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  support::wait_until_alone();
  const std::string said = support::said_by_child([&]() -> std::string {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=512k") != 0)
      return "not permitted";
    return outlive_a_full_disk(
        disk + "/runs.db", [&] { mount("tmpfs", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m"); });
  });
  if (said == "not permitted") GTEST_SKIP() << "no disk of 512 KiB can be mounted here";
  EXPECT_EQ(said, "");
}

TEST(RecordFaults, ALimitOnTheSizeOfFilesCostsSamplesOnly) {
  const support::TemporaryDirectory folder;
  expect_fine_in_child([&]() -> std::string {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{256 << 10, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    return outlive_a_full_disk(folder / "runs.db", [&] { setrlimit(RLIMIT_FSIZE, &before); });
  });
}

TEST(RecordFaults, ALockedDatabaseIsCaughtUpWith) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("locked"));
  int next = 0;
  {
    auto other = open_for_writing(path, 5000);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->script("BEGIN EXCLUSIVE"));
    const std::string trouble = trouble_of(*writer, next);
    EXPECT_NE(trouble.find("locked"), std::string::npos) << trouble;
    EXPECT_EQ(writer->take_trouble(), "") << "told once";
    ASSERT_TRUE(other->script("COMMIT"));
  }
  writer->end(ended(run_named("locked")));
  EXPECT_EQ(samples_in(path), static_cast<std::size_t>(next)) << "nothing was lost";
  EXPECT_EQ(read(path).summary.run.exit_code, 0);
}

TEST(RecordFaults, ARunDoesNotBeginInALockedDatabase) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  auto other = open_for_writing(path, 5000);
  ASSERT_TRUE(other && other->script("BEGIN EXCLUSIVE"));
  const auto writer = Writer::begin(path, run_named("never"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, base::Code::unavailable);
}

TEST(RecordFaults, AFileThatIsRemovedIsMadeAgain) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("removed"));
  writer->add(process_of(kMain, "the job"));
  int next = add_until(*writer, 0, [&] { return samples_in(path) > 0; });
  for (const char* end : {"", "-wal", "-shm"})
    std::filesystem::remove(path + end);
  next = add_until(*writer, next, [&] {
    auto store = Store::open(path);
    return store && store->find("removed") && samples_in(path) > 0;
  });
  writer->end(ended(run_named("removed")));
  const RecordedRun found = read(path);
  EXPECT_EQ(found.summary.run.exit_code, 0);
  EXPECT_EQ(found.processes.at(0).process.command, "the job");
  EXPECT_GT(found.processes.at(0).readings.front().seconds, 0)
      << "what was in the old file is gone";
  EXPECT_EQ(found.processes.at(0).readings.back().seconds, next - 1);
}

TEST(RecordFaults, AFileThatCannotBeOpenedAgainIsToldAndTriedLater) {
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  const auto writer = begin(path, run_named("blocked"));
  for (const char* end : {"", "-wal", "-shm"})
    std::filesystem::remove(path + end);
  std::filesystem::create_directory(path);
  int next = 0;
  EXPECT_NE(trouble_of(*writer, next).find("runs.db"), std::string::npos);
  std::filesystem::remove(path);
  writer->end(ended(run_named("blocked")));
  EXPECT_EQ(samples_in(path), static_cast<std::size_t>(next));
}

TEST(RecordFaults, AFileOverwrittenByGarbageIsLeftAlone) {
  const support::TemporaryDirectory folder;
  const std::string garbage(8192, 'x');
  const std::string path = folder.write("runs.db", garbage);
  const auto writer = Writer::begin(path, run_named("x"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, base::Code::bad_input);
  EXPECT_EQ(Store::open(path).error().code, base::Code::bad_input);
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), garbage);
}

TEST(RecordFaults, ManyRunsAtOnceShareOneFile) {
  constexpr int kRuns = 6;
  constexpr int kSamples = 200;
  const support::TemporaryDirectory folder;
  const std::string path = folder / "runs.db";
  std::vector<pid_t> children;
  support::wait_until_alone();
  for (int c = 0; c < kRuns; ++c) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    const record::Run run = run_named("run" + std::to_string(c));
    // On a busy machine a second may be too short for the others to let it in.
    auto writer = Writer::begin(path, run);
    while (!writer && writer.error().message.find("locked") != std::string::npos)
      writer = Writer::begin(path, run);
    if (!writer) {
      std::fprintf(stderr, "%s\n", writer.error().message.c_str());
      _exit(1);
    }
    for (int i = 0; i < kSamples; ++i) {
      (*writer)->add(sample_of(kMain, i, (static_cast<std::uint64_t>(c) + 1) * kMiB));
      usleep(1000);
    }
    (*writer)->end(ended(run, c));
    // On a busy machine one may have to wait for another, and says so; nothing is lost by it.
    const std::string trouble = (*writer)->take_trouble();
    if (!trouble.empty()) std::fprintf(stderr, "%s\n", trouble.c_str());
    _exit(trouble.empty() || trouble.find("locked") != std::string::npos ? 0 : 2);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(integrity(path), "ok");
  for (int c = 0; c < kRuns; ++c) {
    const RecordedRun found = read(path, "run" + std::to_string(c));
    EXPECT_EQ(found.summary.run.exit_code, c);
    ASSERT_EQ(found.processes.size(), 1U);
    EXPECT_EQ(found.processes[0].readings.size(), static_cast<std::size_t>(kSamples));
    EXPECT_EQ(found.summary.peak_rss, (static_cast<std::uint64_t>(c) + 1) * kMiB);
  }
}

TEST(RecordFaults, TheBacklogIsBoundedAndCountsWhatItDrops) {
  Backlog backlog;
  const std::size_t added = 3 * Backlog::kMostSamples;
  for (std::size_t i = 0; i < added; ++i)
    backlog.add(sample_of(kMain, static_cast<double>(i), kMiB));
  EXPECT_LE(backlog.size(), Backlog::kMostSamples * 9 / 8);
  Batch batch = backlog.take();
  EXPECT_EQ(batch.samples.back().seconds, static_cast<double>(added - 1)) << "the newest stay";
  EXPECT_EQ(batch.samples.size() + batch.lost, added);
  backlog.add(sample_of(kMain, 1e6, kMiB));
  backlog.put_back(std::move(batch));
  batch = backlog.take();
  EXPECT_EQ(batch.samples.size(), Backlog::kMostSamples);
  EXPECT_EQ(batch.samples.back().seconds, 1e6) << "in order";
  EXPECT_EQ(batch.samples.size() + batch.lost, added + 1);
  EXPECT_EQ(backlog.size(), 0U);
}

}  // namespace
}  // namespace ebb::record
