// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fl/config.h"
#include "keep/cleanup.h"
#include "sense/memory_info.h"

namespace ebb::fl {

/// Watches how full memory is while clients train: at `warn` a line, at `critical` a cleanup and
/// then fewer clients at a time. Thread-safe. The cleaner outlives it.
class PressureGate {
 public:
  PressureGate(const Execution& execution, keep::Cleaner& cleaner,
               const base::Clock& clock = base::system_clock());

  /// How many of `now` clients may go on training.
  std::uint32_t allowed(std::uint32_t now) EBB_EXCLUDES(mutex_);

  /// Whether there is room for one more: memory is below `warn` and was since the last call.
  bool has_room() EBB_EXCLUDES(mutex_);

  /// Adds a line.
  void say(std::string line) EBB_EXCLUDES(mutex_);

  /// Percent of the limit that is in use; nothing where it cannot be read.
  std::optional<double> percent() const;

  /// What happened since the last call, one line each.
  std::vector<std::string> lines() EBB_EXCLUDES(mutex_);

  /// What cleanups under pressure returned since the last call.
  std::uint64_t returned() EBB_EXCLUDES(mutex_);

 private:
  struct Fullness {
    double percent = 0;
    std::string of;
  };
  std::optional<Fullness> look() const;

  const Execution execution_;
  keep::Cleaner& cleaner_;
  const base::Clock& clock_;

  base::Mutex mutex_;
  std::optional<std::int64_t> looked_ns_ EBB_GUARDED_BY(mutex_);
  sense::MemoryLevel level_ EBB_GUARDED_BY(mutex_) = sense::MemoryLevel::normal;
  bool was_tight_ EBB_GUARDED_BY(mutex_) = false;
  std::uint64_t returned_ EBB_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> lines_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::fl
