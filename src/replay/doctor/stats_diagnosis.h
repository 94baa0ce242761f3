// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "fact/diagnosis.h"

namespace ebb::replay {

/// What torch.cuda.memory_stats() says of one device, in bytes.
struct StatsReading {
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;  ///< with what was freed and other streams still use
  std::uint64_t reserved = 0;
  std::uint64_t peak_allocated = 0;
  std::uint64_t peak_reserved = 0;
  std::uint64_t inactive_split = 0;  ///< free beside live blocks; 0 under expandable segments
  std::optional<std::uint64_t> requested;
  std::uint64_t retries = 0;
  std::uint64_t ooms = 0;
  std::optional<std::uint64_t> empty_cache_calls;  ///< about so many; PyTorch 2.3 on
  std::uint64_t retaken = 0;  ///< taken from the device beyond the peak: what had been given back

  std::uint64_t pending() const { return active - allocated; }
  /// Free in whole segments, or anywhere in expandable ones.
  std::uint64_t cached() const { return reserved - active - inactive_split; }
  std::uint64_t rounding() const;
  /// Of what is reserved; nothing where that is nothing.
  std::optional<double> utilization_percent() const;
  std::optional<double> peak_utilization_percent() const;
  std::optional<double> fragmentation_percent() const;  ///< what is not allocated
  std::optional<double> inactive_split_percent() const;
};

/// From the dictionary as JSON, flat or nested (memory_stats_as_nested_dict). `name` begins the
/// messages. Code::bad_input where it is none, or its numbers contradict each other.
base::Result<StatsReading> read_stats(const base::Json& stats, const std::string& name);

/// The same out of a file.
base::Result<StatsReading> read_stats_file(const std::string& path);
/// Whether a file is JSON, by how it begins, and so no snapshot.
bool may_be_stats(const std::string& path);

/// One of fact::kSnapshotVerdicts. Confidence is never high: numbers at one moment prove nothing
/// about requests; a snapshot would.
struct StatsDiagnosis : fact::Diagnosis {
  StatsReading stats;
};
StatsDiagnosis diagnose(const StatsReading& stats);

}  // namespace ebb::replay
