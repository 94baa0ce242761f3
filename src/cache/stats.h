// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace ebb::cache {

/// What PyTorch counts for small, large and all pools.
enum class Metric : std::uint8_t {
  allocation,
  segment,
  active,
  inactive_split,
  allocated_bytes,
  reserved_bytes,
  active_bytes,
  inactive_split_bytes,
  requested_bytes,
};
inline constexpr std::size_t kMetrics = 9;

constexpr std::size_t index_of(Metric metric) {
  return static_cast<std::size_t>(metric);
}

/// The four numbers of one statistic.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  ///< sum of all increases
  std::int64_t freed = 0;      ///< sum of all decreases

  friend bool operator==(const Stat&, const Stat&) = default;
};

/// A statistic as it is kept: what decreased is what increased less what is there, so that a
/// decrease touches one number.
struct Counter {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t base = 0;  ///< `current` when the sums were last reset

  void increase(std::int64_t by) {
    current += by;
    allocated += by;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t by) { current -= by; }
  void reset_peak() { peak = current; }
  void reset_sums() {
    allocated = 0;
    base = current;
  }
  Stat stat() const { return {current, peak, allocated, allocated + base - current}; }
};

/// One statistic of both halves; the sum needs only its own peak.
struct PooledCounter {
  std::array<Counter, 2> halves;  ///< large, small
  std::int64_t peak = 0;

  void increase(bool small, std::int64_t by) {
    halves[small].increase(by);
    peak = std::max(peak, halves[0].current + halves[1].current);
  }
  void decrease(bool small, std::int64_t by) { halves[small].decrease(by); }
  /// One increase or one decrease, as PyTorch applies a net change.
  void change(bool small, std::int64_t by) {
    if (by > 0) {
      increase(small, by);
    } else {
      decrease(small, -by);
    }
  }
  void reset_peak() {
    for (Counter& half : halves) {
      half.reset_peak();
    }
    peak = halves[0].current + halves[1].current;
  }
  void reset_sums() {
    for (Counter& half : halves) {
      half.reset_sums();
    }
  }
  Stat half(bool small) const { return halves[small].stat(); }
  Stat all() const {
    const Stat large = halves[0].stat();
    const Stat small = halves[1].stat();
    return {large.current + small.current, peak, large.allocated + small.allocated,
            large.freed + small.freed};
  }
};

/// All statistics of one device.
struct Stats {
  std::array<PooledCounter, kMetrics> pooled;
  Counter oversize_allocations;
  Counter oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
  std::int64_t num_oom_rejections = 0;
  std::int64_t max_split_size = -1;  ///< as configured when the device was set up; -1 is unlimited

  PooledCounter& operator[](Metric metric) { return pooled[index_of(metric)]; }
  const PooledCounter& operator[](Metric metric) const { return pooled[index_of(metric)]; }
  std::int64_t current(Metric metric) const { return (*this)[metric].all().current; }

  void reset_peaks();
  void reset_sums();
};

}  // namespace ebb::cache
