// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/core.h"
#include "cache/snapshot.h"

namespace ebb::cache {

/// PyTorch's allocator written down as plainly as its rules: one map of pieces, linear scans, a
/// counter per name. Slow on purpose; what Core does faster has to come out the same.
class Model {
 public:
  Model(device::Driver& driver, const VersionProfile& profile, const Settings& settings);

  Address allocate(std::uint64_t bytes, StreamId stream);
  bool free(Address address);
  bool record_stream(Address address, StreamId stream);
  bool empty_cache();
  void set_fraction(double fraction);
  void apply(const Settings& settings);

  void make_pool(PoolId id, bool no_split, bool use_on_oom);
  void enter_pool(PoolId id);
  void leave_pool(PoolId id);
  void destroy_pool(PoolId id);

  void reset_peaks();
  void reset_sums();

  /// Every number of memory_stats without private pools, in the order of their names.
  std::vector<std::int64_t> stats() const;
  std::vector<SnapshotSegment> segments() const;
  const std::vector<TraceEntry>& trace() const { return trace_; }
  std::vector<Address> handed_out() const;
  FailureKind last_failure() const { return last_failure_; }

 private:
  struct Piece {
    Address address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    int segment = 0;
    bool allocated = false;
    bool waiting = false;
    bool mapped = true;
    std::uint64_t ordinal = 0;
    std::uint64_t freed_at = 0;
    std::vector<StreamId> uses;
    std::vector<StreamId> capture_uses;
    int events = 0;
  };
  struct PoolKey {
    PoolId id;
    bool small = false;
    auto operator<=>(const PoolKey&) const = default;
  };
  struct Range {
    Address address = 0;
    std::uint64_t size = 0;
    std::uint64_t page = 0;  ///< 0: a plain segment
    StreamId stream = 0;
    PoolKey pool;
    std::uint64_t counter = 0;
  };
  struct PoolState {
    int uses = 1;
    bool no_split = false;
    bool use_on_oom = false;
  };
  struct Waiting {
    device::EventId event = 0;
    Address address = 0;
  };
  enum class Outcome { ok, full, rejected, failed };

  // model.cpp
  std::uint64_t rounded_size(std::uint64_t bytes) const;
  PoolId route() const;
  bool in_capture(StreamId stream);
  bool expandable_mode(PoolId id) const;
  bool splits_finely() const { return settings_.expandable_segments; }
  bool should_split(const Piece& piece, std::uint64_t rounded) const;
  Address hand_out(Address address, std::uint64_t bytes, std::uint64_t rounded, bool split);
  void complete(Address address);
  void before_allocation(StreamId stream);
  void insert_deferred();
  void insert_events(Address address);
  void end_event(const Waiting& waiting);
  void wait_for_events(std::optional<PoolId> only);

  // model_memory.cpp
  std::vector<Address> candidates(const PoolKey& pool, StreamId stream) const;
  std::vector<Address> all_candidates(const PoolKey& pool) const;
  std::optional<Address> search(const PoolKey& pool, StreamId stream, std::uint64_t rounded,
                                bool expandable);
  Outcome obtain(const PoolKey& pool, StreamId stream, std::uint64_t rounded, bool final,
                 Address& found);
  Outcome obtain_expandable(const PoolKey& pool, StreamId stream, std::uint64_t rounded,
                            Address& found);
  Outcome map_front(Address address, std::uint64_t bytes, Address& merged);
  std::optional<Address> get_memory(const PoolKey& pool, StreamId stream, std::uint64_t rounded);
  std::optional<Address> overflow(const PoolKey& pool, StreamId stream, std::uint64_t rounded);
  void collect_garbage();
  bool release_available(const PoolKey& pool, StreamId stream, std::uint64_t rounded);
  void release_all(PoolId id, bool capturing);
  void sweep(const PoolKey& pool);
  void release_segment(Address address);
  void unmap_inside(Address address);

  Piece& at(Address address) { return pieces_.at(address); }
  const Range& range_of(const Piece& piece) const { return ranges_.at(piece.segment); }
  bool is_free(const Piece& piece) const {
    return !piece.allocated && !piece.waiting && piece.mapped;
  }
  const Piece* before(const Piece& piece) const;
  const Piece* after(const Piece& piece) const;
  bool is_split(const Piece& piece) const { return before(piece) || after(piece); }
  void merge(Address into, Address neighbour);
  std::uint64_t new_ordinal() { return next_ordinal_++; }
  void insert_free(Piece& piece) { piece.freed_at = searches_[range_of(piece).pool]; }

  void count(const std::string& name, bool small, std::int64_t by);
  void count_plain(const std::string& name, std::int64_t by);
  void note(Action action, Address address, std::uint64_t size, StreamId stream, PoolId pool);
  void note(Action action, const Piece& piece);

  device::Driver& driver_;
  VersionProfile profile_;
  Settings settings_;
  std::uint64_t total_ = 0;
  bool virtual_memory_ = false;
  std::uint64_t limit_ = kUnlimited;
  std::uint64_t reserved_ = 0;
  std::int64_t first_max_split_ = -1;

  std::map<Address, Piece> pieces_;
  std::map<int, Range> ranges_;
  int next_range_ = 0;
  std::uint64_t next_counter_ = 0;
  std::uint64_t next_ordinal_ = 0;
  std::map<PoolKey, std::uint64_t> searches_;
  std::map<PoolId, PoolState> pools_;
  std::vector<PoolId> freeable_;
  std::vector<PoolId> scopes_;
  std::vector<std::pair<StreamId, std::vector<Waiting>>> queues_;
  std::vector<Address> deferred_;

  std::map<std::string, Stat> stats_;
  std::map<std::string, std::int64_t> scalars_;
  std::vector<TraceEntry> trace_;
  FailureKind last_failure_ = FailureKind::none;
};

}  // namespace ebb::cache
