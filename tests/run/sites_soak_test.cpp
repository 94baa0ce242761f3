// SPDX-License-Identifier: Apache-2.0
// ebb run --sites, half an hour of a pool whose workers end after some tasks: what it keeps of them
// stays level.
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/bytes.h"
#include "run/run_fixture.h"
#include "sense/process.h"
#include "support/process_state.h"
#include "trend/assessment.h"

namespace ebb::run {
namespace {

/// What the supervisor and the folder of its socket hold at a moment.
struct Kept {
  std::size_t files = 0;
  std::uint64_t bytes = 0;  ///< of them, on the disk
  std::size_t descriptors = 0;
  std::uint64_t memory = 0;
};

std::size_t entries_in(const std::string& folder) {
  std::error_code gone;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone))
    ++count;
  return count;
}

Kept kept_by(pid_t supervisor, const std::string& runtime) {
  Kept kept;
  std::error_code gone;
  for (std::filesystem::recursive_directory_iterator entry(runtime, gone), end;
       !gone && entry != end; entry.increment(gone)) {
    struct stat status {};
    if (::stat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    ++kept.files;
    kept.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
  }
  kept.descriptors = entries_in("/proc/" + std::to_string(supervisor) + "/fd");
  kept.memory = sense::read_rss_fast(supervisor).value_or(0);
  return kept;
}

TEST_F(EbbRun, KeepsNothingOfWorkersThatHaveEnded) {
  // A pool, its two workers, and those that are about to be replaced; on a busy machine some more.
  constexpr std::size_t kMostFiles = 40;
  constexpr std::size_t kMostDescriptors = 60;
  constexpr std::uint64_t kMostMemory = 30 * base::kMiB;
  const char* shorter = std::getenv("EBB_TEST_SOAK_SECONDS");
  const std::string seconds = shorter != nullptr ? shorter : EBB_SOAK_SECONDS;
  const support::TemporaryDirectory runtime;
  const support::ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  const auto start = std::chrono::steady_clock::now();
  support::Subprocess child(
      command({"--sites"}, {"/usr/bin/python3", EBB_ENDING_WORKERS_PY, seconds}));
  Kept most;
  std::vector<trend::Point> files, bytes, descriptors, memory;
  while (sense::read_process(child.pid())) {
    const Kept now = kept_by(child.pid(), runtime.path());
    const double at =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (now.memory > 0) {
      files.push_back({at, double(now.files)});
      bytes.push_back({at, double(now.bytes)});
      descriptors.push_back({at, double(now.descriptors)});
      memory.push_back({at, double(now.memory)});
    }
    most.files = std::max(most.files, now.files);
    most.bytes = std::max(most.bytes, now.bytes);
    most.descriptors = std::max(most.descriptors, now.descriptors);
    most.memory = std::max(most.memory, now.memory);
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  const support::Finished done = support::finished(child);
  EXPECT_EQ(done.status, 0) << done.error;
  const record::RecordedRun recorded = last();
  std::printf("%s%zu processes; at most %zu files with %s, %zu descriptors, %s in the supervisor\n",
              done.output.c_str(), recorded.processes.size(), most.files,
              base::bytes_text(most.bytes).c_str(), most.descriptors,
              base::bytes_text(most.memory).c_str());
  if (!memory.empty())
    std::printf("supervisor: %s at first, %s at last\n",
                base::bytes_text(std::uint64_t(memory.front().value)).c_str(),
                base::bytes_text(std::uint64_t(memory.back().value)).c_str());
  EXPECT_LE(most.files, kMostFiles);
  EXPECT_LE(most.descriptors, kMostDescriptors);
  EXPECT_LE(most.memory, kMostMemory);
  const trend::Effect one{0.02, 1};
  const trend::Effect beside_pages{0.02, 4 << 20};  // SQLite fills its cache of 2 MiB at first
  EXPECT_FALSE(trend::grows(trend::assess(files), one));
  EXPECT_FALSE(trend::grows(trend::assess(descriptors), one));
  EXPECT_FALSE(trend::grows(trend::assess(bytes)));
  EXPECT_FALSE(trend::grows(trend::assess(memory), beside_pages));
  EXPECT_FALSE(has_event(recorded, name_of(record::EventKind::no_room)))
      << "what ended gave its room back";
  EXPECT_EQ(kept_by(child.pid(), runtime.path()).files, 0U) << "the run's folder is gone";
}

}  // namespace
}  // namespace ebb::run
