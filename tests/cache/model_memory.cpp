// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "cache/model.h"
#include "cache/rounding.h"

namespace ebb::cache {

std::vector<Address> Model::all_candidates(const PoolKey& pool) const {
  std::vector<Address> found;
  for (const auto& [address, piece] : pieces_) {
    if (is_free(piece) && range_of(piece).pool == pool) found.push_back(address);
  }
  const auto key = [&](Address address) {
    const Piece& piece = pieces_.at(address);
    std::uint64_t tie = 0;
    if (profile_.minor == 12) tie = piece.ordinal;
    if (profile_.minor >= 13) tie = range_of(piece).counter;
    return std::make_tuple(range_of(piece).stream, piece.size, tie, address);
  };
  std::sort(found.begin(), found.end(), [&](Address a, Address b) { return key(a) < key(b); });
  return found;
}

std::vector<Address> Model::candidates(const PoolKey& pool, StreamId stream) const {
  std::vector<Address> found = all_candidates(pool);
  std::erase_if(found, [&](Address a) { return range_of(pieces_.at(a)).stream != stream; });
  return found;
}

std::optional<Address> Model::search(const PoolKey& pool, StreamId stream, std::uint64_t rounded,
                                     bool expandable) {
  if (limit_ != kUnlimited && settings_.garbage_collection_threshold > 0) ++searches_[pool];
  const std::vector<Address> all = candidates(pool, stream);
  std::size_t i = 0;
  while (i < all.size() && at(all[i]).size < rounded) {
    ++i;
  }
  const auto is_expandable = [&](std::size_t index) { return range_of(at(all[index])).page != 0; };
  const auto extended = [&](std::size_t index) {
    const Piece& piece = at(all[index]);
    const Piece* next = after(piece);
    return piece.size + (next != nullptr && !next->mapped ? next->size : 0);
  };
  if (i < all.size() && is_expandable(i)) {
    if (expandable) {
      while (is_expandable(i) && i + 1 < all.size() && extended(i + 1) < extended(i)) {
        ++i;
      }
    } else {
      while (i < all.size() && is_expandable(i)) {
        ++i;
      }
    }
  }
  if (i == all.size()) return std::nullopt;
  const std::uint64_t size = at(all[i]).size;
  if (rounded < settings_.max_split_size && size >= settings_.max_split_size) return std::nullopt;
  if (rounded >= settings_.max_split_size && size >= rounded + settings_.max_non_split_rounding) {
    return std::nullopt;
  }
  return all[i];
}

std::optional<Address> Model::overflow(const PoolKey& pool, StreamId stream,
                                       std::uint64_t rounded) {
  if (!pool.id.is_default()) return std::nullopt;
  for (const auto& [id, state] : pools_) {
    if (!state.use_on_oom) continue;
    if (const auto found = search({id, pool.small}, stream, rounded, false)) return found;
  }
  return std::nullopt;
}

std::optional<Address> Model::get_memory(const PoolKey& pool, StreamId stream,
                                         std::uint64_t rounded) {
  if (limit_ != kUnlimited && settings_.garbage_collection_threshold > 0) collect_garbage();
  Address found = 0;
  Outcome outcome = obtain(pool, stream, rounded, false, found);
  if (outcome == Outcome::full && profile_.minor >= 11) {
    if (const auto other = overflow(pool, stream, rounded)) return other;
  }
  if (outcome == Outcome::full && settings_.max_split_size != kUnlimited &&
      release_available(pool, stream, rounded)) {
    outcome = obtain(pool, stream, rounded, false, found);
  }
  if (outcome == Outcome::full && !in_capture(stream)) {
    release_all({}, false);
    outcome = obtain(pool, stream, rounded, true, found);
  }
  if (outcome == Outcome::full && profile_.minor >= 8 && profile_.minor <= 10) {
    if (const auto other = overflow(pool, stream, rounded)) return other;
  }
  if (outcome == Outcome::ok) return found;
  last_failure_ = outcome == Outcome::rejected ? FailureKind::rejected
                  : outcome == Outcome::failed ? FailureKind::driver_error
                                               : FailureKind::out_of_memory;
  if (outcome == Outcome::full) {
    const auto memory = driver_.memory(0);
    note(Action::oom, memory ? memory->free : 0, rounded, stream, pool.id);
    ++scalars_["num_ooms"];
  }
  return std::nullopt;
}

Model::Outcome Model::obtain(const PoolKey& pool, StreamId stream, std::uint64_t rounded,
                             bool final, Address& found) {
  const std::uint64_t bytes = segment_size(rounded, settings_.large_segment_size);
  if (final) ++scalars_["num_alloc_retries"];
  if (limit_ != kUnlimited && reserved_ + bytes > limit_) return Outcome::full;
  if (settings_.throw_on_cudamalloc_oom) {
    const double allowed = settings_.memory_fraction * static_cast<double>(total_);
    if (reserved_ + bytes > static_cast<std::uint64_t>(allowed)) {
      ++scalars_["num_oom_rejections"];
      return Outcome::rejected;
    }
  }
  if (expandable_mode(pool.id)) return obtain_expandable(pool, stream, rounded, found);
  if (settings_.expandable_segments && profile_.minor == 7) return Outcome::failed;
  const auto address = driver_.allocate(0, bytes);
  if (!address) {
    return address.error().code == base::Code::out_of_memory ? Outcome::full : Outcome::failed;
  }
  const int id = next_range_++;
  ranges_[id] = {*address, bytes, 0, stream, pool, next_counter_++};
  Piece piece;
  piece.address = *address;
  piece.size = bytes;
  piece.segment = id;
  piece.ordinal = new_ordinal();
  pieces_[*address] = piece;
  reserved_ += bytes;
  count("segment", pool.small, 1);
  count("reserved_bytes", pool.small, static_cast<std::int64_t>(bytes));
  if (bytes >= settings_.max_split_size) count_plain("oversize_segments", 1);
  ++scalars_["num_device_alloc"];
  note(Action::segment_alloc, *address, bytes, stream, pool.id);
  found = *address;
  return Outcome::ok;
}

Model::Outcome Model::obtain_expandable(const PoolKey& pool, StreamId stream, std::uint64_t rounded,
                                        Address& found) {
  std::optional<Address> start;
  for (const auto& [address, piece] : pieces_) {
    const Range& range = range_of(piece);
    if (piece.mapped || range.pool != pool || range.stream != stream) continue;
    const auto available = [](const Piece* p) { return p && !p->allocated && !p->waiting; };
    const Piece* first = &piece;
    if (available(before(piece))) first = before(piece);
    std::uint64_t room = 0;
    for (const Piece* p = first; available(p); p = after(*p)) {
      room += p->size;
    }
    if (room >= rounded) {
      start = first->address;
      break;
    }
  }
  if (!start) {
    const std::uint64_t page = pool.small ? kSmallSegment : settings_.large_segment_size;
    const std::uint64_t bytes = (total_ + total_ / 8 + page - 1) / page * page;
    if (bytes < rounded) return Outcome::full;
    const auto address = driver_.reserve(0, bytes);
    if (!address) {
      return address.error().code == base::Code::out_of_memory ? Outcome::full : Outcome::failed;
    }
    const int id = next_range_++;
    ranges_[id] = {*address, bytes, page, stream, pool, next_counter_++};
    Piece piece;
    piece.address = *address;
    piece.size = bytes;
    piece.segment = id;
    piece.mapped = false;
    piece.ordinal = new_ordinal();
    pieces_[*address] = piece;
    start = *address;
  }
  Address now = *start;
  if (!at(now).mapped) {
    const Outcome mapped = map_front(now, std::min(at(now).size, rounded), now);
    if (mapped != Outcome::ok) return mapped;
  }
  while (at(now).size < rounded) {
    const Piece* next = after(at(now));
    const std::uint64_t missing = std::min(rounded - at(now).size, next->size);
    const Outcome mapped = map_front(next->address, missing, now);
    if (mapped != Outcome::ok) return mapped;
  }
  found = now;
  return Outcome::ok;
}

Model::Outcome Model::map_front(Address address, std::uint64_t bytes, Address& merged) {
  const Range range = range_of(at(address));
  const std::uint64_t pages = (bytes + range.page - 1) / range.page;
  const auto mapped = driver_.map(0, address, range.page, pages);
  if (!mapped) {
    return mapped.error().code == base::Code::out_of_memory ? Outcome::full : Outcome::failed;
  }
  const std::uint64_t size = pages * range.page;
  Piece& piece = at(address);
  if (size < piece.size) {
    Piece rest;
    rest.address = address + size;
    rest.size = piece.size - size;
    rest.segment = piece.segment;
    rest.mapped = false;
    rest.ordinal = new_ordinal();
    piece.size = size;
    pieces_[rest.address] = rest;
  }
  piece.mapped = true;
  merged = address;
  if (const Piece* low = before(piece); low != nullptr && is_free(*low)) {
    merged = low->address;
    merge(address, merged);
  }
  if (const Piece* high = after(at(merged)); high != nullptr && is_free(*high)) {
    merge(merged, high->address);
  }
  insert_free(at(merged));
  reserved_ += size;
  count("reserved_bytes", range.pool.small, static_cast<std::int64_t>(size));
  ++scalars_["num_device_alloc"];
  note(Action::segment_map, address, size, range.stream, range.pool.id);
  return Outcome::ok;
}

void Model::collect_garbage() {
  const auto threshold = static_cast<std::uint64_t>(settings_.garbage_collection_threshold *
                                                    static_cast<double>(limit_));
  if (reserved_ <= threshold) return;
  const std::uint64_t target = reserved_ - threshold;
  const PoolKey pool{{}, false};
  const auto age = [&](Address address) {
    return static_cast<double>(searches_[pool] - at(address).freed_at);
  };
  double total_age = 0;
  int freeable = 0;
  for (const Address address : all_candidates(pool)) {
    if (is_split(at(address))) continue;
    total_age += age(address);
    ++freeable;
  }
  std::uint64_t reclaimed = 0;
  bool freed = true;
  while (reclaimed < target && freed && freeable > 0) {
    const double mean = total_age / freeable;
    freed = false;
    for (const Address address : all_candidates(pool)) {
      if (is_split(at(address)) || range_of(at(address)).page != 0 || age(address) < mean) continue;
      reclaimed += at(address).size;
      total_age -= age(address);
      --freeable;
      freed = true;
      release_segment(address);
    }
  }
}

bool Model::release_available(const PoolKey& pool, StreamId stream, std::uint64_t rounded) {
  const std::uint64_t wanted = std::max(rounded, settings_.max_split_size);
  const std::vector<Address> all = candidates(pool, stream);
  const auto enough =
      std::find_if(all.begin(), all.end(), [&](Address a) { return at(a).size >= wanted; });
  // Only after max_split_size was lowered can such a block be a piece of a segment.
  const auto releasable = [&](Address a) { return range_of(at(a)).page == 0 && !is_split(at(a)); };
  if (enough != all.end() && releasable(*enough)) {
    release_segment(*enough);
    return true;
  }
  std::uint64_t released = 0;
  for (auto it = enough; it != all.begin() && released < wanted;) {
    --it;
    if (at(*it).size < settings_.max_split_size) break;
    if (!releasable(*it)) continue;
    released += at(*it).size;
    release_segment(*it);
  }
  return released >= wanted;
}

void Model::release_segment(Address address) {
  const Piece piece = at(address);
  const Range range = range_of(piece);
  note(Action::segment_free, address, piece.size, range.stream, range.pool.id);
  static_cast<void>(driver_.release(0, address, piece.size));
  ++scalars_["num_device_free"];
  reserved_ -= piece.size;
  count("segment", range.pool.small, -1);
  count("reserved_bytes", range.pool.small, -static_cast<std::int64_t>(piece.size));
  if (piece.size >= settings_.max_split_size) count_plain("oversize_segments", -1);
  pieces_.erase(address);
  ranges_.erase(piece.segment);
}

void Model::unmap_inside(Address address) {
  const Piece whole = at(address);
  const Range range = range_of(whole);
  const std::uint64_t offset = address - range.address;
  const std::uint64_t first = (offset + range.page - 1) / range.page * range.page;
  const std::uint64_t end = (offset + whole.size) / range.page * range.page;
  if (end <= first) return;
  const Address start = range.address + first;
  const std::uint64_t bytes = end - first;
  static_cast<void>(driver_.synchronize_stream(0, range.stream));
  if (!driver_.unmap(0, start, range.page, bytes / range.page)) return;
  pieces_.erase(address);
  const auto left_over = [&](Address from, Address to) {
    if (from == to) return;
    Piece piece;
    piece.address = from;
    piece.size = to - from;
    piece.segment = whole.segment;
    piece.ordinal = new_ordinal();
    insert_free(piece);
    pieces_[from] = piece;
  };
  left_over(address, start);
  left_over(start + bytes, address + whole.size);
  Piece middle = whole;
  middle.address = start;
  middle.size = bytes;
  middle.mapped = false;
  pieces_[start] = middle;
  Address merged = start;
  if (const Piece* low = before(at(start)); low != nullptr && !low->mapped) {
    merged = low->address;
    merge(start, merged);
  }
  if (const Piece* high = after(at(merged)); high != nullptr && !high->mapped) {
    merge(merged, high->address);
  }
  reserved_ -= bytes;
  count("reserved_bytes", range.pool.small, -static_cast<std::int64_t>(bytes));
  ++scalars_["num_device_free"];
  note(Action::segment_unmap, start, bytes, range.stream, range.pool.id);
  if (!is_split(at(merged))) {
    static_cast<void>(driver_.unreserve(0, range.address, range.size));
    pieces_.erase(merged);
    ranges_.erase(whole.segment);
  }
}

void Model::sweep(const PoolKey& pool) {
  const std::vector<Address> all = all_candidates(pool);
  for (const Address address : all) {
    if (range_of(at(address)).page == 0 && !is_split(at(address))) release_segment(address);
  }
  for (const Address address : all) {
    const auto found = pieces_.find(address);
    if (found != pieces_.end() && range_of(found->second).page != 0) unmap_inside(address);
  }
}

void Model::release_all(PoolId id, bool capturing) {
  if (id.is_default() && !capturing) {
    ++scalars_["num_sync_all_streams"];
    wait_for_events(std::nullopt);
    sweep({{}, false});
    sweep({{}, true});
  }
  const std::vector<PoolId> freeable = freeable_;
  for (const PoolId pool : freeable) {
    if (!id.is_default()) {
      if (pool != id) continue;
      ++scalars_["num_sync_all_streams"];
      wait_for_events(pool);
    }
    sweep({pool, true});
    sweep({pool, false});
    // A range that was reserved and got no memory goes with its pool.
    for (auto it = pieces_.begin(); it != pieces_.end();) {
      const Piece piece = it->second;
      ++it;
      if (piece.mapped || range_of(piece).pool.id != pool || is_split(piece)) continue;
      static_cast<void>(driver_.unreserve(0, piece.address, piece.size));
      pieces_.erase(piece.address);
      ranges_.erase(piece.segment);
    }
    const bool owns = std::any_of(ranges_.begin(), ranges_.end(),
                                  [&](const auto& r) { return r.second.pool.id == pool; });
    if (owns) continue;
    std::erase(freeable_, pool);
    pools_.erase(pool);
  }
}

bool Model::empty_cache() {
  const bool capturing = in_capture(0);
  PoolId id;
  if (profile_.minor == 6 || profile_.minor == 7) id = route();
  if (id.is_default() && capturing && profile_.minor <= 7) return false;
  release_all(id, capturing);
  return true;
}

}  // namespace ebb::cache
