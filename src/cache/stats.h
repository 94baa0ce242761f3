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

/// The four numbers of one statistic.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;  ///< sum of all increases
  std::int64_t freed = 0;      ///< sum of all decreases

  friend bool operator==(const Stat&, const Stat&) = default;
};

/// One statistic of the two halves of the pools, and of both together.
struct PooledStat {
  Stat all;
  Stat large;
  Stat small;
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
  /// An increase or a decrease, by sign; without a branch that nobody could predict.
  void change(std::int64_t by) {
    current += by;
    allocated += std::max(by, std::int64_t{0});
    peak = std::max(peak, current);
  }
  void reset_peak() { peak = current; }
  void reset_sums() {
    allocated = 0;
    base = current;
  }
  Stat stat() const { return {current, peak, allocated, allocated + base - current}; }
};

/// One statistic of both halves; of the sum only the peak has to be kept.
struct PooledCounter {
  std::array<Counter, 2> halves;  ///< large, small
  std::int64_t peak = 0;

  std::int64_t current() const { return halves[0].current + halves[1].current; }
  void increase(bool small, std::int64_t by) {
    halves[small].increase(by);
    peak = std::max(peak, current());
  }
  void decrease(bool small, std::int64_t by) { halves[small].decrease(by); }
  /// One increase or one decrease, as PyTorch applies a net change.
  void change(bool small, std::int64_t by) {
    halves[small].change(by);
    peak = std::max(peak, current());
  }
  void reset_peak();
  void reset_sums();
  PooledStat stat() const;
};

/// Blocks that were freed and still wait for other streams. PyTorch's `active` is what is allocated
/// plus these, so it needs numbers of its own only while there are any.
struct PendingCounter {
  std::array<std::int64_t, 2> current{};
  std::array<std::int64_t, 2> base{};  ///< `active` when the sums were last reset
  std::array<std::int64_t, 3> peak{};  ///< of `active` at allocations made while some waited

  std::int64_t total() const { return current[0] + current[1]; }
  void note_peak(const PooledCounter& allocated);
  void reset_peak(const PooledCounter& allocated);
  void reset_sums(const PooledCounter& allocated);
  PooledStat active(const PooledCounter& allocated) const;
};

/// All statistics of one device.
struct Stats {
  PooledCounter allocation;
  PooledCounter allocated_bytes;
  PooledCounter requested_bytes;
  PooledCounter inactive_split;
  PooledCounter inactive_split_bytes;
  PooledCounter segment;
  PooledCounter reserved_bytes;
  PendingCounter pending;
  PendingCounter pending_bytes;
  Counter oversize_allocations;
  Counter oversize_segments;
  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;
  std::int64_t num_oom_rejections = 0;
  std::int64_t max_split_size = -1;  ///< as configured when the device was set up; -1 is unlimited

  void on_allocate(bool small, std::int64_t size, std::int64_t requested) {
    allocation.increase(small, 1);
    allocated_bytes.increase(small, size);
    requested_bytes.increase(small, requested);
    if (pending.total() != 0) [[unlikely]] {
      pending.note_peak(allocation);
      pending_bytes.note_peak(allocated_bytes);
    }
  }
  void on_free(bool small, std::int64_t size) {
    allocation.decrease(small, 1);
    allocated_bytes.decrease(small, size);
  }
  /// A freed block waits for other streams, or stops waiting.
  void on_wait(bool small, std::int64_t size, int blocks) {
    pending.current[small] += blocks;
    pending_bytes.current[small] += blocks * size;
  }

  PooledStat operator[](Metric metric) const;
  std::int64_t current(Metric metric) const { return (*this)[metric].all.current; }

  void reset_peaks();
  void reset_sums();
};

}  // namespace ebb::cache
