// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sites/python_frames.h"
#include "sites/table.h"
#include "sites/tally.h"
#include "sites/time_budget.h"
#include "sites/unwind.h"

namespace ebb::sites {

/// What a thread keeps between samples.
struct ThreadState {
  std::int64_t left;  ///< bytes until the next sample
  Random random;      ///< 0: this thread has not begun
  unsigned shift;     ///< of the distance that is running
  bool is_cut;        ///< `left` is a part of the distance
  bool is_inside;     ///< it samples right now: what a signal handler allocates is not counted
};

/// In the thread's static storage: reached without a call, there before the first allocation.
extern constinit thread_local ThreadState this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Counts bytes that the program is given; true where they are to be sampled.
inline bool is_due(std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  this_thread.left -= static_cast<std::int64_t>(bytes < kMost ? bytes : kMost);
  return this_thread.left < 0;
}

/// Takes samples of this process's allocations: decides, reads the stack, keeps. Of static storage.
/// A forked child begins a table of its own with its first sample. What it inherited live counts
/// at its parent alone: its pages are the parent's until somebody writes to them.
class Sampler {
 public:
  constexpr Sampler() = default;

  /// Once, before any thread: samples go to files in `folder`. Calls the dynamic loader.
  void begin(const char* folder);

  /// To be called where is_due() said so, with what the allocator gave.
  void took(void* block, std::size_t bytes);

  bool may_hold(const void* block) const {
    return table_.may_hold(reinterpret_cast<std::uint64_t>(block));
  }
  /// Where may_hold() said so, before the block goes back. True with what was kept of it.
  bool forget(void* block, Table::Kept* kept);
  /// It did not go back after all.
  void restore(void* block, const Table::Kept& kept);
  /// may_hold() of it from now on.
  void mark(const void* block) { table_.mark(reinterpret_cast<std::uint64_t>(block)); }

  /// As PythonFrames::begin(); `eval` is where the interpreter's loop begins.
  bool begin_python(unsigned minor, PythonFrames::ThisThread this_thread, std::uint64_t eval,
                    const char* file, const char* function, std::uint32_t line);
  void end_python() { python_.end(); }

 private:
  bool is_alive();
  bool open_table();
  std::uint32_t read_stack(const Place& place);
  /// Whether this allocation is, by what is left of its thread's distance.
  bool is_sampled(std::size_t bytes, std::uint64_t now_ns);
  void sample(void* block, std::size_t bytes, std::uint64_t now_ns);

  Table table_;
  RoomShare room_;
  Unwinder unwinder_;
  PythonFrames python_;
  /// Whether this process has a table; on a page that a forked child finds empty.
  std::atomic<std::atomic<std::uint32_t>*> life_{nullptr};
  std::atomic<bool> python_refused_{false};
  TimeBudget budget_;
  char folder_[256] = {};
};

}  // namespace ebb::sites
