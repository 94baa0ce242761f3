// SPDX-License-Identifier: Apache-2.0
#include "keep/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "heap/private_copies.h"
#include "sense/living_thread.h"
#include "sense/process_tree.h"

namespace ebb::keep {
namespace {

// Looking for children reads a file per process of the machine; pss walks page tables.
constexpr double kTreeEverySeconds = 1;
constexpr double kPssEverySeconds = 60;

base::Error has_ended_error(pid_t pid) {
  return base::error(base::Code::not_found, "process %d has ended", pid);
}

}  // namespace

base::Json to_json(const WatchSample& sample) {
  const sense::ProcessReading& process = sample.memory.process;
  base::Json json;
  json.set("seconds", sample.seconds)
      .set("pid", std::int64_t{process.pid})
      .set("rss_bytes", process.rss)
      .set("anon_bytes", process.anon)
      .set("file_bytes", process.file)
      .set("shmem_bytes", process.shmem)
      .set("swap_bytes", process.swap)
      .set("threads", process.threads)
      .set("limit_bytes", sample.memory.limit)
      .set("limit_source", sense::name_of(sample.memory.source))
      .set("percent", sample.memory.percent)
      .set("gpu_bytes", sample.gpu)
      .set("processes", std::uint64_t{sample.processes})
      .set("tree_rss_bytes", sample.tree_rss)
      .set("tree_pss_bytes", sample.tree_pss);
  return json;
}

ProcessWatch::ProcessWatch(pid_t pid, const base::Clock& clock, sense::Roots roots)
    : pid_(pid), clock_(&clock), roots_(std::move(roots)), began_ns_(clock.now_ns()) {}

base::Result<ProcessWatch> ProcessWatch::of(pid_t pid, const base::Clock& clock,
                                            const sense::Roots& roots) {
  ProcessWatch watch(pid, clock, roots);
  if (roots.proc == sense::Roots{}.proc) {
    const long descriptor = ::syscall(SYS_pidfd_open, pid, 0);
    if (descriptor < 0 && errno == ESRCH) return sense::no_such_process(pid, roots);
    // Older kernels and some sandboxes have no pidfds: then the files alone say that it ended.
    if (descriptor >= 0) watch.end_ = base::FileDescriptor(static_cast<int>(descriptor));
  }
  const pid_t readable = sense::number_to_read(pid, roots);
  auto allocator = heap::detect_in(readable, roots.proc);
  if (!allocator) return allocator.error();
  watch.allocator_ = *std::move(allocator);
  const auto copies = heap::private_copies_in(readable, roots.proc);
  for (const heap::PrivateCopy& copy : copies.value_or({})) {
    watch.private_allocators_.emplace_back();
    watch.private_allocators_.back().kind = heap::name_of(copy.identity.kind);
    watch.private_allocators_.back().library = heap::library_of(copy);
  }
  if (auto gpus = sense::GpuMeter::open()) watch.gpus_.emplace(*std::move(gpus));
  return watch;
}

bool ProcessWatch::has_ended() const {
  if (!end_.is_open()) return false;
  pollfd end{end_.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

void ProcessWatch::read_tree(WatchSample& sample) {
  const double now = sample.seconds;
  if (!tree_read_ || now - *tree_read_ >= kTreeEverySeconds) {
    if (auto found = sense::descendants_of(pid_, roots_)) children_ = *std::move(found);
    tree_read_ = now;
    gpu_.reset();
    if (gpus_) {
      const auto readings = gpus_->read(pid_);
      for (const sense::GpuReading& gpu : readings.value_or({}))
        if (gpu.process) gpu_ = gpu_.value_or(0) + *gpu.process;
    }
  }
  std::uint64_t children_rss = 0;
  for (const pid_t child : children_)
    children_rss += sense::read_rss_fast(child, roots_).value_or(0);
  if (children_.empty()) {
    tree_pss_.reset();
  } else if (!pss_read_ || now - *pss_read_ >= kPssEverySeconds) {
    pss_read_ = now;
    tree_pss_ = 0;
    std::vector<pid_t> all = children_;
    all.push_back(pid_);
    for (const pid_t member : all) {
      const auto exact = sense::read_process_exact(member, roots_);
      if (exact) {
        *tree_pss_ += exact->pss.value_or(0);
      } else if (exact.error().code != base::Code::not_found) {
        tree_pss_.reset();
        break;
      }
    }
  }
  sample.processes = children_.size() + 1;
  sample.tree_rss = sample.memory.process.rss + children_rss;
  sample.tree_pss = tree_pss_;
  sample.gpu = gpu_;
  children_rss_.add({now, static_cast<double>(children_rss)});
}

base::Result<WatchSample> ProcessWatch::sample() {
  WatchSample sample;
  sample.seconds = base::seconds_between(began_ns_, clock_->now_ns());
  auto memory = sense::memory_info(pid_, roots_);
  // Asked after reading: as long as it had not ended, the files were its own.
  if (has_ended()) return has_ended_error(pid_);
  if (!memory) return memory.error();
  sample.memory = *std::move(memory);
  const sense::ProcessReading& process = sample.memory.process;
  // While a process ends, its memory goes first: that is no reading of its work.
  if (process.virtual_size == 0) return has_ended_error(pid_);
  rss_.add({sample.seconds, static_cast<double>(process.rss)});
  const auto add = [&](trend::BoundedSeries& series, const std::optional<std::uint64_t>& bytes) {
    if (bytes) series.add({sample.seconds, static_cast<double>(*bytes)});
  };
  if (process.anon) add(anon_, *process.anon + process.swap.value_or(0));
  add(file_, process.file);
  add(shmem_, process.shmem);
  const double left = std::clamp(100 - sample.memory.percent, 0.0, 100.0);
  room_ = static_cast<std::uint64_t>(static_cast<double>(sample.memory.limit) * left / 100);
  read_tree(sample);
  return sample;
}

ProcessDiagnosis ProcessWatch::diagnose() const {
  MemorySeries series;
  series.rss = rss_.points();
  series.anon = anon_.points();
  series.file = file_.points();
  series.shmem = shmem_.points();
  series.children = children_rss_.points();
  series.room = room_;
  ProcessDiagnosis diagnosis = keep::diagnose(series);
  if (!private_allocators_.empty()) {
    std::string names;
    for (const fact::PrivateAllocator& one : private_allocators_)
      names += (names.empty() ? "" : ", ") + fact::name_of(one);
    diagnosis.findings.push_back("libraries bring allocators of their own: " + names +
                                 "; what they hold is not known from outside");
  }
  return diagnosis;
}

}  // namespace ebb::keep
