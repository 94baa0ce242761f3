// SPDX-License-Identifier: Apache-2.0
#include "sense/process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "sense/living_thread.h"
#include "sense/machine.h"
#include "sense/process_text.h"

namespace ebb::sense {

using base::Code;
using base::Error;
using base::FileDescriptor;
using base::Result;
using base::Status;

namespace {

std::string name_of(pid_t pid) {
  return pid == kSelf ? std::string("this process") : "process " + std::to_string(pid);
}

Error ended(pid_t pid) {
  return base::error(Code::not_found, "%s ended while it was read", name_of(pid).c_str());
}

/// A file's failure in terms of the process. `known`: the process was there a moment ago.
Error in_terms_of(pid_t pid, const Roots& roots, const Error& failure, bool known) {
  if (failure.code == Code::not_permitted) {
    return Error{Code::not_permitted, name_of(pid) + " is not ours to read: " + failure.message,
                 failure.native};
  }
  if (failure.code != Code::not_found) return failure;
  Error gone = known || failure.native == ESRCH ? ended(pid) : no_such_process(pid, roots);
  gone.native = failure.native;
  return gone;
}

/// `folder`: of the process, or of one of its threads.
Result<std::string> read_process_file(const Roots& roots, pid_t pid, const std::string& folder,
                                      const char* file, bool known) {
  Result<std::string> text = base::read_file(folder + "/" + file, 1 << 20);
  if (!text) return in_terms_of(pid, roots, text.error(), known);
  if (text->empty()) return ended(pid);
  return text;
}

constexpr const char* kSelfStatm = "/proc/self/statm";
constexpr const char* kThreadStatm = "/proc/thread-self/statm";
// Threads may end one after the other while they are read.
constexpr int kMostThreads = 10;

Result<std::uint64_t> resident_pages(int statm) {
  char text[256];
  ssize_t got = 0;
  do {
    got = ::pread(statm, text, sizeof text, 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::system_error(errno, "cannot read statm");
  return parse_statm(std::string_view(text, static_cast<std::size_t>(got)), "statm");
}

bool has_ended(const StatusText& status) {
  return status.state == 'Z' || status.state == 'X';
}

ProcessReading reading_of(const StatusText& status, const StatText& stat) {
  ProcessReading reading;
  reading.pid = status.pid;
  reading.parent = stat.parent;
  reading.state = status.state;
  reading.start_ticks = stat.start_ticks;
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  reading.cpu_seconds = static_cast<double>(stat.cpu_ticks) / ticks_per_second;
  reading.system_seconds = static_cast<double>(stat.system_ticks) / ticks_per_second;
  reading.rss = status.rss.value_or(0);
  reading.virtual_size = status.virtual_size.value_or(0);
  reading.threads = status.threads;
  reading.minor_faults = stat.minor_faults;
  reading.major_faults = stat.major_faults;
  reading.hwm = status.hwm;
  reading.anon = status.anon;
  reading.file = status.file;
  reading.shmem = status.shmem;
  reading.data = status.data;
  reading.virtual_peak = status.virtual_peak;
  reading.swap = status.swap;
  reading.locked = status.locked;
  return reading;
}

}  // namespace

Result<std::uint64_t> read_rss_fast(pid_t pid, const Roots& roots) {
  const auto pages_in = [&](const std::string& folder) -> Result<std::uint64_t> {
    const auto text = read_process_file(roots, pid, folder, "statm", false);
    if (!text) return text.error();
    return parse_statm(*text, folder + "/statm");
  };
  auto pages = pages_in(roots.process(pid));
  if (pages && *pages == 0) {
    if (const auto thread = living_thread(pid, roots)) pages = pages_in(roots.thread(pid, *thread));
  }
  if (!pages) return pages.error();
  return *pages * page_size();
}

std::optional<std::uint64_t> rss_now() {
  const auto rss = read_rss_fast();
  if (!rss) return std::nullopt;
  return *rss;
}

Result<ProcessReading> read_process(pid_t pid, const Roots& roots) {
  const std::string folder = roots.process(pid);
  const auto status_in = [&](const std::string& where) -> Result<StatusText> {
    const auto text = read_process_file(roots, pid, where, "status", false);
    if (!text) return text.error();
    return parse_status(*text, where + "/status");
  };
  auto status = status_in(folder);
  if (!status) return status.error();
  bool first_thread_ended = false;
  for (int i = 0; i < kMostThreads && status && has_ended(*status) && status->threads > 1; ++i) {
    const auto thread = living_thread(pid, roots);
    if (!thread) break;
    first_thread_ended = true;
    status = status_in(roots.thread(pid, *thread));
  }
  if (!status) return ended(pid);
  if (has_ended(*status)) {
    return base::error(Code::not_found, "%s has ended and waits for its parent",
                       name_of(pid).c_str());
  }
  const auto stat_text = read_process_file(roots, pid, folder, "stat", true);
  if (!stat_text) return stat_text.error();
  const auto stat = parse_stat(*stat_text, folder + "/stat");
  if (!stat) return stat.error();
  ProcessReading reading = reading_of(*status, *stat);
  reading.first_thread_ended = first_thread_ended;
  if (first_thread_ended && pid != kSelf) reading.pid = pid;
  if (first_thread_ended && pid == kSelf) reading.pid = ::getpid();
  return reading;
}

Result<ProcessReading> read_process_exact(pid_t pid, const Roots& roots) {
  Result<ProcessReading> reading = read_process(pid, roots);
  if (!reading) return reading;
  if (reading->virtual_size == 0) {
    // A kernel thread: its smaps_rollup answers as if the process had ended.
    reading->pss = reading->uss = reading->anon_huge = reading->shared = 0;
    return reading;
  }
  std::string folder = roots.process(pid);
  const auto is_there = [&] { return ::access((folder + "/stat").c_str(), F_OK) == 0; };
  if (reading->first_thread_ended) folder = folder_to_read(pid, roots);
  auto text = read_process_file(roots, pid, folder, "smaps_rollup", true);
  for (int i = 0; i < kMostThreads && !text && reading->first_thread_ended && !is_there(); ++i) {
    folder = folder_to_read(pid, roots);
    text = read_process_file(roots, pid, folder, "smaps_rollup", true);
  }
  const std::string file = folder + "/smaps_rollup";
  if (!text) {
    if (text.error().native == ENOENT && is_there()) {
      return base::error(Code::unavailable, "this kernel has no %s: pss and uss cannot be read",
                         file.c_str());
    }
    return text.error();
  }
  const auto rollup = parse_smaps_rollup(*text, file);
  if (!rollup) return rollup.error();
  // Counted page by page, where status adds counters that lag by some pages per processor.
  reading->rss = rollup->rss;
  reading->pss = rollup->pss;
  reading->uss = rollup->uss;
  reading->anon_huge = rollup->anon_huge;
  reading->shared = rollup->shared;
  return reading;
}

RssMeter::RssMeter(FileDescriptor statm)
    : statm_(std::move(statm)), opener_(::getpid()), page_bytes_(page_size()) {}

Result<RssMeter> RssMeter::for_self() {
  FileDescriptor statm(::open(kSelfStatm, O_RDONLY | O_CLOEXEC));
  if (!statm.is_open()) return base::system_error(errno, "cannot open %s", kSelfStatm);
  return RssMeter(std::move(statm));
}

Result<std::uint64_t> RssMeter::read() const {
  FileDescriptor own;
  if (::getpid() != opener_) {
    // After fork the descriptor that was kept still speaks of the parent.
    own = FileDescriptor(::open(kSelfStatm, O_RDONLY | O_CLOEXEC));
    if (!own.is_open()) return base::system_error(errno, "cannot open %s", kSelfStatm);
  }
  auto pages = resident_pages(own.is_open() ? own.get() : statm_.get());
  if (pages && *pages == 0) {
    // The first thread has ended, and the process's own file is empty since then.
    own = FileDescriptor(::open(kThreadStatm, O_RDONLY | O_CLOEXEC));
    if (!own.is_open()) return base::system_error(errno, "cannot open %s", kThreadStatm);
    pages = resident_pages(own.get());
  }
  if (!pages) return pages.error();
  return *pages * page_bytes_;
}

}  // namespace ebb::sense
