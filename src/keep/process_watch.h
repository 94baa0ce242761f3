// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "heap/detect.h"
#include "keep/diagnosis.h"
#include "sense/gpu.h"
#include "sense/memory_info.h"
#include "trend/series.h"

namespace ebb::keep {

/// A process and those it started, at one moment.
struct WatchSample {
  double seconds = 0;  ///< since the watch began
  sense::MemoryInfo memory;
  std::size_t processes = 1;   ///< the process and all it started
  std::uint64_t tree_rss = 0;  ///< of them together; shared pages count in each
  std::optional<std::uint64_t>
      tree_pss;                      ///< of them together, at most once a minute; with children
  std::optional<std::uint64_t> gpu;  ///< held on all GPUs; nothing where NVML does not list it
};

/// The keys are documented in docs/watch.md.
base::Json to_json(const WatchSample& sample);

/// Readings of another process over time, without touching it, in bounded memory. Never speaks of a
/// process that was given the same pid later (where the kernel has pidfds). Not thread-safe.
class ProcessWatch {
 public:
  /// Code::not_found for no such process, Code::not_permitted for one that is not ours to read.
  /// `clock` must outlive the watch.
  static base::Result<ProcessWatch> of(pid_t pid, const base::Clock& clock = base::system_clock(),
                                       const sense::Roots& roots = {});

  /// Reads once. Code::not_found when the process has ended.
  base::Result<WatchSample> sample();

  /// The verdict that the samples so far allow.
  ProcessDiagnosis diagnose() const;

  pid_t pid() const { return pid_; }
  const heap::Detection& allocator() const { return allocator_; }
  std::span<const trend::Point> rss() const { return rss_.points(); }
  std::size_t samples() const { return rss_.added(); }

  /// Becomes readable when the process ends; -1 where the kernel has none.
  int end_descriptor() const { return end_.get(); }

 private:
  ProcessWatch(pid_t pid, const base::Clock& clock, sense::Roots roots);

  bool has_ended() const;
  void read_tree(WatchSample& sample);

  pid_t pid_;
  const base::Clock* clock_;
  sense::Roots roots_;
  std::int64_t began_ns_;
  base::FileDescriptor end_;
  heap::Detection allocator_;
  std::vector<fact::PrivateAllocator> private_allocators_;
  std::optional<sense::GpuMeter> gpus_;

  std::vector<pid_t> children_;
  std::optional<double> tree_read_;  ///< seconds of the sample that last looked for children
  std::optional<double> pss_read_;
  std::optional<std::uint64_t> tree_pss_;
  std::optional<std::uint64_t> gpu_;

  trend::BoundedSeries rss_, anon_, file_, shmem_, children_rss_;
  std::optional<std::uint64_t> room_;
};

}  // namespace ebb::keep
