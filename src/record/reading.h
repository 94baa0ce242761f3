// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "record/model.h"

namespace ebb::record {

/// The lowest, mean and highest of some values; all the same for one.
struct Extent {
  std::uint64_t low = 0;
  std::uint64_t mean = 0;
  std::uint64_t high = 0;

  bool operator==(const Extent&) const = default;
};

/// One or more samples of one process. Of merged ones low and high are exact; the mean is exact but
/// for rounding where the value was known in all of them.
struct Reading {
  double seconds = 0;       ///< of the first sample
  double until = 0;         ///< of the last
  std::uint64_t count = 1;  ///< samples it stands for
  std::optional<Extent> rss;
  std::optional<Extent> anon;
  std::optional<Extent> file;
  std::optional<Extent> shmem;
  std::optional<Extent> swap;
  std::optional<Extent> pss;
  std::optional<Extent> uss;
  std::optional<Extent> shared;
  std::optional<Extent> live;
  std::optional<Extent> retained;
  std::optional<std::uint64_t> held_low;  ///< the lowest sum of anon and swap at one moment
  std::uint64_t minor_faults = 0;         ///< at the last sample
  double cpu_seconds = 0;                 ///< at the last sample

  double middle() const { return (seconds + until) / 2; }
};

/// One part of a process's memory, as it is called in the tables: in a sample and in a reading.
struct Part {
  const char* name;
  std::optional<std::uint64_t> fact::ProcessSample::*sampled;
  std::optional<Extent> Reading::*merged;
  int since = 1;  ///< the version of the schema that brought it
};
inline constexpr std::array<Part, 10> kParts{{
    {"rss", &fact::ProcessSample::rss, &Reading::rss},
    {"anon", &fact::ProcessSample::anon, &Reading::anon},
    {"file", &fact::ProcessSample::file, &Reading::file},
    {"shmem", &fact::ProcessSample::shmem, &Reading::shmem},
    {"swap", &fact::ProcessSample::swap, &Reading::swap},
    {"pss", &fact::ProcessSample::pss, &Reading::pss},
    {"live", &fact::ProcessSample::live, &Reading::live},
    {"retained", &fact::ProcessSample::retained, &Reading::retained},
    {"uss", &fact::ProcessSample::uss, &Reading::uss, 2},
    {"shared", &fact::ProcessSample::shared, &Reading::shared, 2},
}};

/// One sample as a reading.
Reading reading_of(const Sample& sample);

/// Takes `other` into `into`. Both are of one process.
void merge(Reading& into, const Reading& other);

/// The place at one moment, or over several: then `now` holds the highest of each value (and the
/// lowest limit).
struct PlaceReading {
  PlaceSample now;
  double until = 0;
  std::uint64_t count = 1;
  std::uint64_t used_low = 0;
};

void merge(PlaceReading& into, const PlaceReading& other);

/// Sums what was returned and what it cost, keeps the lowest level that was reached. Both are of
/// one process.
void merge(Action& into, const Action& other);

}  // namespace ebb::record
