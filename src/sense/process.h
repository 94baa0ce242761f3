// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/file.h"
#include "base/result.h"
#include "sense/roots.h"

namespace ebb::sense {

// The layer `sense` reads what the kernel and the driver tell: processes, the machine, control
// groups, pressure, GPUs. It changes nothing.

/// The kernel's view of one process, in bytes. Parts that a kernel does not tell are empty.
struct ProcessReading {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';                 ///< the kernel's letter: R, S, D, T, t, …
  std::uint64_t start_ticks = 0;    ///< since boot: with the pid it names one process for ever
  double cpu_seconds = 0;           ///< user and system
  double system_seconds = 0;        ///< of these, in the kernel
  std::uint64_t rss = 0;            ///< 0 for a kernel thread
  std::uint64_t virtual_size = 0;   ///< what RLIMIT_AS counts
  std::uint64_t threads = 0;        ///< with the first one, ended or not
  bool first_thread_ended = false;  ///< others live on: it is a living process, whatever `ps` says
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
  std::optional<std::uint64_t>
      hwm;  ///< the highest rss so far, or since a reset through clear_refs
  std::optional<std::uint64_t> virtual_peak;  ///< the highest virtual_size so far
  std::optional<std::uint64_t> anon;          ///< resident: heaps, stacks
  std::optional<std::uint64_t> file;          ///< resident: mapped files
  std::optional<std::uint64_t> shmem;         ///< resident: shared memory
  std::optional<std::uint64_t> data;          ///< what RLIMIT_DATA counts
  std::optional<std::uint64_t> swap;          ///< anonymous memory that was swapped out
  std::optional<std::uint64_t> locked;        ///< what cannot be swapped out
  std::optional<std::uint64_t> pss;  ///< rss with shared pages divided by their sharers; exact only
  std::optional<std::uint64_t> uss;  ///< what would be free if it ended now; exact only
  std::optional<std::uint64_t> anon_huge;  ///< in huge pages; exact only
  /// Anonymous memory less its pss: what it would hold more if it shared none with the processes
  /// that it was forked from or forked; exact only, and since Linux 5.4.
  std::optional<std::uint64_t> shared;

  /// Whether it can run: neither stopped, by a signal or a debugger, nor dead.
  bool can_run() const { return state != 'T' && state != 't' && state != 'Z' && state != 'X'; }
};

// Failures of all readings below, one line each: Code::not_found when there is no such process or
// it ended while it was read, Code::not_permitted when it is another user's, Code::bad_input when
// a file is not what the kernel writes.

/// rss alone, from statm; a few microseconds. For many readings keep an RssMeter.
base::Result<std::uint64_t> read_rss_fast(pid_t pid = kSelf, const Roots& roots = {});

/// rss of this process now; nothing where it cannot be read. Keeps no descriptor.
std::optional<std::uint64_t> rss_now();

/// Everything in status and stat; some ten microseconds at any size of the process. A process whose
/// first thread has ended is read through one that lives on.
base::Result<ProcessReading> read_process(pid_t pid = kSelf, const Roots& roots = {});

/// The same with pss, uss and huge pages from smaps_rollup, which walks the page tables: some ten
/// milliseconds per GiB under the process's mmap lock. Code::unavailable where the kernel has none.
base::Result<ProcessReading> read_process_exact(pid_t pid = kSelf, const Roots& roots = {});

/// rss of this process again and again through a descriptor that stays open. Reading allocates
/// nothing. Thread-safe. In a child after fork a meter of the parent's reads the child.
class RssMeter {
 public:
  static base::Result<RssMeter> for_self();

  /// Bytes.
  base::Result<std::uint64_t> read() const;

 private:
  explicit RssMeter(base::FileDescriptor statm);

  base::FileDescriptor statm_;
  pid_t opener_;  ///< who opened the descriptor
  std::uint64_t page_bytes_;
};

}  // namespace ebb::sense
