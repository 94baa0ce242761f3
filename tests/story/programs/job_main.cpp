// SPDX-License-Identifier: Apache-2.0
// job KIND RECORD: a job of 40 rounds that cleans up after each and records itself, three samples
// per round of "three seconds". Of its memory
//   neither    nothing grows
//   leak       2 MiB more stay in use with every round
//   retention  32 MiB are allocated and freed in every round, but for some blocks in between
//   both       leak and retention
//   foreign    2 MiB are mapped past malloc in every round
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "heap/host_allocator.h"
#include "keep/cleanup.h"
#include "record/run_file.h"
#include "sense/process.h"

namespace {

using namespace ebb;

constexpr int kRounds = 40;
constexpr std::size_t kBlock = 12'000;

void* touched(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) std::abort();
  std::memset(block, 1, size);
  return block;
}

class Job {
 public:
  Job(std::string kind, std::string path) : kind_(std::move(kind)), path_(std::move(path)) {}

  int run() {
    record::Run run;
    run.name = kind_;
    run.command = {"job", kind_};
    run.started = 1.7e9;
    auto file = record::RunFile::begin(path_, run);
    if (!file) return fail(file.error());
    record::Process process;
    process.pid = key_.pid;
    process.start = key_.start;
    process.command = "job " + kind_;
    process.agent = true;
    batch_.processes.push_back(process);
    // Its own books must not grow among what it measures.
    batch_.samples.reserve(3 * kRounds);
    batch_.actions.reserve(kRounds);
    batch_.rounds.reserve(kRounds);
    kept_.reserve(128 * base::kMiB / kBlock);
    const bool retains = kind_ == "retention" || kind_ == "both";
    const bool leaks = kind_ == "leak" || kind_ == "both";
    // What every job has: 24 MiB that stay.
    for (std::size_t i = 0; i < 24 * base::kMiB / kBlock; ++i)
      kept_.push_back(touched(kBlock));
    for (int round = 1; round <= kRounds; ++round) {
      std::vector<void*> work;
      if (retains) work = work_of_a_round();
      if (leaks) leak();
      if (kind_ == "foreign") map_more();
      sample();
      release(work);
      sample();
      clean(round);
      sample();
    }
    if (const auto written = file->write(batch_); !written) return fail(written.error());
    run.ended = run.started + now_;
    run.exit_code = 0;
    run.ending = fact::RunEnd::exit;
    if (const auto ended = file->finish(run); !ended) return fail(ended.error());
    return 0;
  }

 private:
  static int fail(const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
  }

  std::vector<void*> work_of_a_round() {
    std::vector<void*> blocks;
    for (std::size_t bytes = 0; bytes < 32 * base::kMiB;) {
      const std::size_t size = 2000 + static_cast<std::size_t>(std::rand()) % 20'000;
      blocks.push_back(touched(size));
      bytes += size;
    }
    for (void* survivor : survivors_)
      std::free(survivor);
    survivors_.clear();
    return blocks;
  }

  /// All but every hundredth block: they keep the pages around them from going back at once.
  void release(const std::vector<void*>& work) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (i % 100 == 99) {
        survivors_.push_back(work[i]);
      } else {
        std::free(work[i]);
      }
    }
  }

  void leak() {
    for (std::size_t i = 0; i < 2 * base::kMiB / kBlock; ++i)
      kept_.push_back(touched(kBlock));
  }

  static void map_more() {
    void* arena =
        mmap(nullptr, 2 * base::kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) std::abort();
    std::memset(arena, 1, 2 * base::kMiB);
  }

  void sample() {
    const auto process = sense::read_process();
    if (!process) std::abort();
    const heap::HeapReading heap = heap::host_allocator().read();
    record::Sample sample;
    sample.process = key_;
    sample.seconds = now_++;
    sample.memory.rss = process->rss;
    sample.memory.anon = process->anon;
    sample.memory.file = process->file;
    sample.memory.shmem = process->shmem;
    sample.memory.swap = process->swap;
    sample.memory.live = heap.live;
    sample.memory.retained = heap.retained;
    batch_.samples.push_back(sample);
  }

  void clean(int round) {
    batch_.rounds.push_back({key_, now_ - 0.5, static_cast<std::uint64_t>(round)});
    fact::Cleanup cleanup = cleaner_.clean({}).measured;
    cleanup.trigger = fact::Trigger::round;
    if (const auto process = sense::read_process()) cleanup.after.anon = process->anon;
    batch_.actions.push_back({key_, now_ - 0.5, cleanup});
  }

  const std::string kind_;
  const std::string path_;
  const record::ProcessKey key_{::getpid(), 1};
  base::ReclaimerRegistry reclaimers_;
  keep::Cleaner cleaner_{heap::host_allocator(), reclaimers_, sense::rss_now};
  record::Batch batch_;
  std::vector<void*> kept_;
  std::vector<void*> survivors_;
  double now_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  return Job(words[1], words[2]).run();
}
