// SPDX-License-Identifier: Apache-2.0
#include "cache/model.h"

#include <algorithm>
#include <cmath>

#include "cache/rounding.h"

namespace ebb::cache {
namespace {

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

bool contains(const std::vector<StreamId>& streams, StreamId stream) {
  return std::find(streams.begin(), streams.end(), stream) != streams.end();
}

}  // namespace

Model::Model(device::Driver& driver, const VersionProfile& profile, const Settings& settings)
    : driver_(driver), profile_(profile) {
  const auto info = driver.info(0);
  total_ = info->total_memory;
  virtual_memory_ = info->virtual_memory;
  set_fraction(settings.memory_fraction);
  if (profile.minor <= 9) limit_ = kUnlimited;
  apply(settings);
  if (settings.max_split_size != kUnlimited) first_max_split_ = as_signed(settings.max_split_size);
  for (const char* name :
       {"allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
        "active_bytes", "inactive_split_bytes", "requested_bytes"}) {
    count(name, true, 0);
    count(name, false, 0);
  }
  count_plain("oversize_allocations", 0);
  count_plain("oversize_segments", 0);
}

void Model::set_fraction(double fraction) {
  if (profile_.minor >= 10 && fraction >= 1) {
    limit_ = kUnlimited;
    return;
  }
  std::uint64_t total = total_;
  if (profile_.minor <= 9) {
    const auto memory = driver_.memory(0);
    if (!memory) return;
    total = memory->total;
  }
  const double bytes = fraction * static_cast<double>(total);
  limit_ = static_cast<std::uint64_t>(profile_.minor >= 13 ? std::round(bytes) : std::floor(bytes));
}

void Model::apply(const Settings& settings) {
  settings_ = settings;
  if (!virtual_memory_) settings_.expandable_segments = false;
}

void Model::count(const std::string& name, bool small, std::int64_t by) {
  count_plain(name + ".all", by);
  count_plain(name + (small ? ".small_pool" : ".large_pool"), by);
}

void Model::count_plain(const std::string& name, std::int64_t by) {
  Stat& stat = stats_[name];
  stat.current += by;
  if (by > 0) {
    stat.allocated += by;
    stat.peak = std::max(stat.peak, stat.current);
  } else {
    stat.freed -= by;
  }
}

void Model::reset_peaks() {
  for (auto& [name, stat] : stats_) {
    stat.peak = stat.current;
  }
}

void Model::reset_sums() {
  for (auto& [name, stat] : stats_) {
    stat.allocated = stat.freed = 0;
  }
  scalars_.clear();
}

std::vector<std::int64_t> Model::stats() const {
  std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> all;
  for (const auto& [name, stat] : stats_) {
    all.push_back({name, {stat.allocated, stat.current, stat.freed, stat.peak}});
  }
  std::vector<const char*> names = {"num_alloc_retries", "num_ooms"};
  if (profile_.minor >= 3) {
    names.insert(names.end(), {"num_sync_all_streams", "num_device_alloc", "num_device_free"});
  }
  if (profile_.minor >= 12) names.push_back("num_oom_rejections");
  for (const char* name : names) {
    const auto found = scalars_.find(name);
    all.push_back({name, {found == scalars_.end() ? 0 : found->second}});
  }
  all.push_back({"max_split_size", {first_max_split_}});
  // A dot sorts before every letter and before the underscore, so that names sort like their keys.
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> values;
  for (const auto& [name, numbers] : all) {
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  return values;
}

void Model::note(Action action, Address address, std::uint64_t size, StreamId stream, PoolId pool) {
  TraceEntry entry;
  entry.action = action;
  entry.address = address;
  entry.size = size;
  entry.stream = stream;
  entry.pool = pool;
  trace_.push_back(entry);
}

void Model::note(Action action, const Piece& piece) {
  const Range& range = range_of(piece);
  note(action, piece.address, piece.requested, range.stream, range.pool.id);
}

const Model::Piece* Model::before(const Piece& piece) const {
  auto at = pieces_.find(piece.address);
  if (at == pieces_.begin()) return nullptr;
  --at;
  return at->second.segment == piece.segment ? &at->second : nullptr;
}

const Model::Piece* Model::after(const Piece& piece) const {
  const auto at = std::next(pieces_.find(piece.address));
  if (at == pieces_.end()) return nullptr;
  return at->second.segment == piece.segment ? &at->second : nullptr;
}

/// `into` survives with its own history, at the lower address.
void Model::merge(Address into, Address neighbour) {
  Piece survivor = at(into);
  survivor.size += at(neighbour).size;
  survivor.address = std::min(into, neighbour);
  pieces_.erase(into);
  pieces_.erase(neighbour);
  pieces_[survivor.address] = survivor;
}

std::uint64_t Model::rounded_size(std::uint64_t bytes) const {
  if (bytes < 512) return 512;
  int log = 0;
  while ((bytes >> (log + 1)) != 0) {
    ++log;
  }
  const int bucket = std::min(std::max(log - 20, 0), 15);
  const std::uint64_t divisions = settings_.roundup_divisions[static_cast<std::size_t>(bucket)];
  const bool applies = profile_.minor <= 3 ? divisions > 0 : divisions > 1;
  if (!applies || bytes <= 512 * divisions) return (bytes + 511) / 512 * 512;
  const std::uint64_t power = std::uint64_t{1} << log;
  if (bytes == power || divisions == 1) return bytes;
  const std::uint64_t step = power / divisions;
  return (bytes + step - 1) / step * step;
}

PoolId Model::route() const {
  if (scopes_.empty()) return {};
  return profile_.minor >= 10 ? scopes_.back() : scopes_.front();
}

bool Model::in_capture(StreamId stream) {
  if (profile_.minor <= 12) return !scopes_.empty();
  const auto capturing = driver_.is_capturing(0, stream);
  return capturing && *capturing;
}

bool Model::expandable_mode(PoolId id) const {
  if (!settings_.expandable_segments) return false;
  if (id.is_default()) return true;
  return profile_.minor >= 5 && profile_.minor != 7;
}

bool Model::should_split(const Piece& piece, std::uint64_t rounded) const {
  const Range& range = range_of(piece);
  const auto pool = pools_.find(range.pool.id);
  if (profile_.minor >= 10 && pool != pools_.end() && pool->second.no_split) return false;
  const std::uint64_t remainder = piece.size - rounded;
  if (range.pool.small || splits_finely()) return remainder >= 512;
  return rounded < settings_.max_split_size && remainder > kSmallLimit;
}

Address Model::hand_out(Address address, std::uint64_t bytes, std::uint64_t rounded, bool split) {
  Piece piece = at(address);
  const Range range = range_of(piece);
  const bool small = range.pool.small;
  const bool plain = range.page == 0;
  const bool was_split = is_split(piece);
  if (split) {
    Piece rest = piece;
    rest.address += rounded;
    rest.size -= rounded;
    pieces_.erase(address);
    piece = Piece{};
    piece.address = address;
    piece.size = rounded;
    piece.segment = rest.segment;
    piece.ordinal = new_ordinal();
    insert_free(rest);
    pieces_[rest.address] = rest;
    if (plain && was_split) count("inactive_split_bytes", small, -as_signed(rounded));
    if (plain && !was_split) {
      count("inactive_split", small, 1);
      count("inactive_split_bytes", small, as_signed(rest.size));
    }
  } else if (was_split && plain) {
    count("inactive_split", small, -1);
    count("inactive_split_bytes", small, -as_signed(piece.size));
  }
  piece.allocated = true;
  piece.requested = bytes;
  pieces_[address] = piece;
  count("allocation", small, 1);
  count("allocated_bytes", small, as_signed(piece.size));
  count("active", small, 1);
  count("active_bytes", small, as_signed(piece.size));
  count("requested_bytes", small, as_signed(bytes));
  if (piece.size >= settings_.max_split_size) count_plain("oversize_allocations", 1);
  note(Action::alloc, piece);
  return address;
}

Address Model::allocate(std::uint64_t bytes, StreamId stream) {
  last_failure_ = FailureKind::none;
  if (bytes == 0) return 0;
  if (bytes >= kAbsurdSize) {
    last_failure_ = FailureKind::too_large;
    return 0;
  }
  before_allocation(stream);
  const std::uint64_t rounded = rounded_size(bytes);
  const PoolKey pool{route(), rounded <= kSmallLimit};
  auto found = search(pool, stream, rounded, expandable_mode(pool.id));
  if (!found) found = get_memory(pool, stream, rounded);
  if (!found) return 0;
  return hand_out(*found, bytes, rounded, should_split(at(*found), rounded));
}

bool Model::free(Address address) {
  const auto found = pieces_.find(address);
  if (found == pieces_.end() || !found->second.allocated) return false;
  Piece& piece = found->second;
  const Range range = range_of(piece);
  piece.allocated = false;
  count("allocation", range.pool.small, -1);
  count("allocated_bytes", range.pool.small, -as_signed(piece.size));
  note(Action::free_requested, piece);
  if (piece.size >= settings_.max_split_size) count_plain("oversize_allocations", -1);
  if (piece.uses.empty()) {
    complete(address);
    return true;
  }
  piece.waiting = true;
  if (in_capture(range.stream)) {
    deferred_.push_back(address);
  } else {
    insert_events(address);
  }
  return true;
}

void Model::complete(Address address) {
  at(address).waiting = false;
  note(Action::free_completed, at(address));
  const Range range = range_of(at(address));
  const bool small = range.pool.small;
  const std::uint64_t size = at(address).size;
  const std::uint64_t requested = at(address).requested;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  if (const Piece* low = before(at(address)); low != nullptr && is_free(*low)) {
    --blocks;
    bytes -= as_signed(low->size);
    const Address merged = low->address;
    merge(address, merged);
    address = merged;
  }
  if (const Piece* high = after(at(address)); high != nullptr && is_free(*high)) {
    --blocks;
    bytes -= as_signed(high->size);
    merge(address, high->address);
  }
  Piece& piece = at(address);
  insert_free(piece);
  if (is_split(piece)) {
    ++blocks;
    bytes += as_signed(piece.size);
  }
  if (range.page == 0) {
    count("inactive_split", small, blocks);
    count("inactive_split_bytes", small, bytes);
  }
  count("active", small, -1);
  count("active_bytes", small, -as_signed(size));
  count("requested_bytes", small, -as_signed(requested));
}

bool Model::record_stream(Address address, StreamId stream) {
  const auto found = pieces_.find(address);
  if (found == pieces_.end() || !found->second.allocated) return false;
  Piece& piece = found->second;
  if (range_of(piece).stream == stream) return true;
  if (!contains(piece.uses, stream)) piece.uses.push_back(stream);
  if (in_capture(stream) && !contains(piece.capture_uses, stream)) {
    piece.capture_uses.push_back(stream);
  }
  return true;
}

void Model::before_allocation(StreamId stream) {
  const bool anything =
      !deferred_.empty() ||
      std::any_of(queues_.begin(), queues_.end(), [](auto& q) { return !q.second.empty(); });
  if (!anything || in_capture(stream)) return;
  insert_deferred();
  for (auto& [side, queue] : queues_) {
    while (!queue.empty()) {
      const auto done = driver_.event_done(0, queue.front().event);
      if (!done || !*done) break;
      const Waiting first = queue.front();
      queue.erase(queue.begin());
      end_event(first);
    }
  }
}

void Model::insert_deferred() {
  const std::vector<Address> all = std::exchange(deferred_, {});
  for (const Address address : all) {
    Piece& piece = at(address);
    if (profile_.minor >= 4) {
      std::erase_if(piece.uses, [&](StreamId s) { return contains(piece.capture_uses, s); });
    }
    insert_events(address);
  }
}

void Model::insert_events(Address address) {
  Piece& piece = at(address);
  for (const StreamId stream : piece.uses) {
    const auto event = driver_.record_event(0, stream);
    if (!event) {
      static_cast<void>(driver_.synchronize_stream(0, stream));
      continue;
    }
    auto queue = std::find_if(queues_.begin(), queues_.end(),
                              [&](const auto& q) { return q.first == stream; });
    if (queue == queues_.end()) queue = queues_.insert(queues_.end(), {stream, {}});
    queue->second.push_back({*event, address});
    ++piece.events;
  }
  piece.uses.clear();
  piece.capture_uses.clear();
  if (piece.events == 0) complete(address);
}

void Model::end_event(const Waiting& waiting) {
  static_cast<void>(driver_.destroy_event(0, waiting.event));
  if (--at(waiting.address).events == 0) complete(waiting.address);
}

void Model::wait_for_events(std::optional<PoolId> only) {
  insert_deferred();
  for (auto& [side, queue] : queues_) {
    std::vector<Waiting> kept;
    for (const Waiting& waiting : std::exchange(queue, {})) {
      if (only && range_of(at(waiting.address)).pool.id != *only) {
        kept.push_back(waiting);
        continue;
      }
      static_cast<void>(driver_.wait_event(0, waiting.event));
      end_event(waiting);
    }
    queue = kept;
  }
}

std::vector<Address> Model::handed_out() const {
  std::vector<Address> addresses;
  for (const auto& [address, piece] : pieces_) {
    if (piece.allocated) addresses.push_back(address);
  }
  return addresses;
}

void Model::make_pool(PoolId id, bool no_split, bool use_on_oom) {
  pools_[id] = {1, no_split, use_on_oom};
}

void Model::enter_pool(PoolId id) {
  ++pools_.at(id).uses;
  scopes_.push_back(id);
}

void Model::leave_pool(PoolId id) {
  std::erase(scopes_, id);
  if (--pools_.at(id).uses == 0) freeable_.push_back(id);
}

void Model::destroy_pool(PoolId id) {
  pools_.at(id).use_on_oom = false;
  if (--pools_.at(id).uses == 0) freeable_.push_back(id);
  release_all(id, in_capture(0));
}

std::vector<SnapshotSegment> Model::segments() const {
  std::vector<SnapshotSegment> out;
  const Piece* last = nullptr;
  for (const auto& [address, piece] : pieces_) {
    if (!piece.mapped) {
      last = nullptr;
      continue;
    }
    const Range& range = range_of(piece);
    if (last == nullptr || last->segment != piece.segment) {
      SnapshotSegment segment;
      segment.address = address;
      segment.stream = range.stream;
      segment.small = range.pool.small;
      segment.pool = range.pool.id;
      segment.expandable = range.page != 0;
      out.push_back(segment);
    }
    last = &piece;
    SnapshotSegment& segment = out.back();
    const BlockState state = piece.allocated ? BlockState::active_allocated
                             : piece.waiting ? BlockState::active_pending_free
                                             : BlockState::inactive;
    segment.blocks.push_back({address, piece.size, piece.requested, state});
    segment.total_size += piece.size;
    if (state == BlockState::inactive) continue;
    segment.active_size += piece.size;
    segment.requested_size += piece.requested;
    if (piece.allocated) segment.allocated_size += piece.size;
  }
  return out;
}

}  // namespace ebb::cache
