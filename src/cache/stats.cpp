// SPDX-License-Identifier: Apache-2.0
#include "cache/stats.h"

namespace ebb::cache {
namespace {

constexpr std::size_t kBoth = 2;  // index of the sum in PendingCounter::peak

Stat sum(const Stat& large, const Stat& small, std::int64_t peak) {
  return {large.current + small.current, peak, large.allocated + small.allocated,
          large.freed + small.freed};
}

}  // namespace

void PooledCounter::reset_peak() {
  for (Counter& half : halves) {
    half.reset_peak();
  }
  peak = current();
}

void PooledCounter::reset_sums() {
  for (Counter& half : halves) {
    half.reset_sums();
  }
}

PooledStat PooledCounter::stat() const {
  const Stat large = halves[0].stat();
  const Stat small = halves[1].stat();
  return {sum(large, small, peak), large, small};
}

void PendingCounter::note_peak(const PooledCounter& allocated) {
  for (std::size_t half = 0; half < 2; ++half) {
    peak[half] = std::max(peak[half], allocated.halves[half].current + current[half]);
  }
  peak[kBoth] = std::max(peak[kBoth], allocated.current() + total());
}

void PendingCounter::reset_peak(const PooledCounter& allocated) {
  peak = {};
  note_peak(allocated);
}

void PendingCounter::reset_sums(const PooledCounter& allocated) {
  for (std::size_t half = 0; half < 2; ++half) {
    base[half] = allocated.halves[half].current + current[half];
  }
}

PooledStat PendingCounter::active(const PooledCounter& allocated) const {
  // Every allocation raises both, so that sums of increases agree, and so do peaks that were
  // reached while nothing waited.
  const auto half = [&](std::size_t i) {
    const Counter& counter = allocated.halves[i];
    const std::int64_t now = counter.current + current[i];
    return Stat{now, std::max(counter.peak, peak[i]), counter.allocated,
                counter.allocated + base[i] - now};
  };
  const Stat large = half(0);
  const Stat small = half(1);
  return {sum(large, small, std::max(allocated.peak, peak[kBoth])), large, small};
}

PooledStat Stats::operator[](Metric metric) const {
  switch (metric) {
    case Metric::allocation:
      return allocation.stat();
    case Metric::segment:
      return segment.stat();
    case Metric::active:
      return pending.active(allocation);
    case Metric::inactive_split:
      return inactive_split.stat();
    case Metric::allocated_bytes:
      return allocated_bytes.stat();
    case Metric::reserved_bytes:
      return reserved_bytes.stat();
    case Metric::active_bytes:
      return pending_bytes.active(allocated_bytes);
    case Metric::inactive_split_bytes:
      return inactive_split_bytes.stat();
    case Metric::requested_bytes:
      return requested_bytes.stat();
  }
  return {};
}

void Stats::reset_peaks() {
  for (PooledCounter* counter : {&allocation, &allocated_bytes, &requested_bytes, &inactive_split,
                                 &inactive_split_bytes, &segment, &reserved_bytes}) {
    counter->reset_peak();
  }
  pending.reset_peak(allocation);
  pending_bytes.reset_peak(allocated_bytes);
  oversize_allocations.reset_peak();
  oversize_segments.reset_peak();
}

void Stats::reset_sums() {
  for (PooledCounter* counter : {&allocation, &allocated_bytes, &requested_bytes, &inactive_split,
                                 &inactive_split_bytes, &segment, &reserved_bytes}) {
    counter->reset_sums();
  }
  pending.reset_sums(allocation);
  pending_bytes.reset_sums(allocated_bytes);
  oversize_allocations.reset_sums();
  oversize_segments.reset_sums();
  num_alloc_retries = num_ooms = num_sync_all_streams = 0;
  num_device_alloc = num_device_free = num_oom_rejections = 0;
}

}  // namespace ebb::cache
