// SPDX-License-Identifier: Apache-2.0
#include "device/address_space.h"

#include <algorithm>
#include <cinttypes>

namespace ebb::device {
namespace {

// Where user space has room on every 64-bit machine; CUDA's own addresses lie around the second.
constexpr Address kFirstGoingUp = 64 * base::kGiB;
constexpr Address kFirstGoingDown = 0x7f00'0000'0000;
constexpr Address kEnd = Address{1} << 62;

constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t step) {
  return value & ~(step - 1);
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return round_down(value + step - 1, step);
}

constexpr bool is_power_of_two(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

AddressSpace::AddressSpace(AddressModel model)
    : model_(model),
      low_(model.growth == Growth::up ? kFirstGoingUp : kFirstGoingDown),
      high_(low_) {
  EBB_CHECK(is_power_of_two(model.step));
  EBB_CHECK(model.chunk == 0 || (is_power_of_two(model.chunk) && model.chunk >= model.step));
}

base::Result<Address> AddressSpace::take(std::uint64_t bytes) {
  const auto exhausted = [&] {
    return base::error(base::Code::out_of_memory, "no addresses left for %s",
                       base::bytes_text(bytes).c_str());
  };
  if (bytes == 0 || bytes >= kEnd) return exhausted();
  const std::uint64_t size = round_up(bytes, model_.step);
  std::optional<Address> place;
  if (model_.chunk == 0) {
    place = from_freed(size, model_.reuse);
    if (!place) place = grow(size, model_.step);
  } else {
    place = from_chunks(size);
    if (!place) {
      const std::uint64_t whole = round_up(size, model_.chunk);
      place = from_freed(whole, Reuse::highest);
      if (!place) place = grow(whole, model_.chunk);
      if (place) chunks_[*place] = whole;
    }
  }
  if (!place) return exhausted();
  used_[*place] = size;
  return *place;
}

base::Status AddressSpace::take_at(Address address, std::uint64_t bytes) {
  if (address == 0 || bytes == 0 || bytes >= kEnd || address >= kEnd - bytes) {
    return base::error(base::Code::bad_input, "0x%" PRIx64 " is no place for a range of %s",
                       address, base::bytes_text(bytes).c_str());
  }
  const auto next = used_.lower_bound(address + bytes);
  if (next != used_.begin()) {
    const auto& [start, size] = *std::prev(next);
    if (start + size > address) {
      return base::error(
          base::Code::bad_input,
          "a range of %s at 0x%" PRIx64 " overlaps the one of %s in use at 0x%" PRIx64,
          base::bytes_text(bytes).c_str(), address, base::bytes_text(size).c_str(), start);
    }
  }
  if (model_.chunk == 0) {
    remove_freed({address, bytes});
  } else {
    include_in_chunk(address, bytes);
  }
  used_[address] = bytes;
  low_ = std::min(low_, address);
  high_ = std::max(high_, address + bytes);
  return {};
}

void AddressSpace::give_back(Address address) {
  const auto found = used_.find(address);
  EBB_CHECK(found != used_.end());
  const Range range{found->first, found->second};
  used_.erase(found);
  if (model_.chunk != 0) {
    return_chunk_if_empty(address);
  } else if (model_.reuse != Reuse::never) {
    add_freed(range);
  }
}

std::optional<Address> AddressSpace::from_freed(std::uint64_t bytes, Reuse reuse) {
  if (reuse == Reuse::never) return std::nullopt;
  std::optional<Address> best;
  for (const Range& range : freed_) {
    const Address first = round_up(range.start, model_.step);
    const Address end = range.start + range.bytes;
    if (first >= end || end - first < bytes) continue;
    const Address last = round_down(end - bytes, model_.step);
    switch (reuse) {
      case Reuse::never:
        break;
      case Reuse::lowest:
        if (!best || first < *best) best = first;
        break;
      case Reuse::highest:
        if (!best || last > *best) best = last;
        break;
      case Reuse::latest:
        best = first;
        break;
    }
  }
  if (best) remove_freed({*best, bytes});
  return best;
}

std::optional<Address> AddressSpace::from_chunks(std::uint64_t bytes) const {
  for (const auto& [chunk_start, chunk_bytes] : chunks_) {
    const Address chunk_end = chunk_start + chunk_bytes;
    Address cursor = chunk_start;
    for (auto used = used_.lower_bound(chunk_start); cursor < chunk_end; ++used) {
      const bool in_chunk = used != used_.end() && used->first < chunk_end;
      const Address gap_end = in_chunk ? used->first : chunk_end;
      if (gap_end >= cursor && gap_end - cursor >= bytes) return cursor;
      if (!in_chunk) break;
      cursor = round_up(used->first + used->second, model_.step);
    }
  }
  return std::nullopt;
}

std::optional<Address> AddressSpace::grow(std::uint64_t bytes, std::uint64_t alignment) {
  if (model_.growth == Growth::up) {
    const Address place = round_up(high_, alignment);
    if (place >= kEnd - bytes) return std::nullopt;
    high_ = place + bytes;
    return place;
  }
  if (low_ <= bytes + alignment) return std::nullopt;
  low_ = round_down(low_ - bytes, alignment);
  return low_;
}

void AddressSpace::include_in_chunk(Address address, std::uint64_t bytes) {
  Address start = round_down(address, model_.chunk);
  Address end = round_up(address + bytes, model_.chunk);
  for (auto chunk = chunks_.begin(); chunk != chunks_.end();) {
    const Address chunk_end = chunk->first + chunk->second;
    if (chunk->first < end && start < chunk_end) {
      start = std::min(start, chunk->first);
      end = std::max(end, chunk_end);
      chunk = chunks_.erase(chunk);
    } else {
      ++chunk;
    }
  }
  chunks_[start] = end - start;
  remove_freed({start, end - start});
}

void AddressSpace::return_chunk_if_empty(Address address) {
  const auto chunk = std::prev(chunks_.upper_bound(address));
  const auto used = used_.lower_bound(chunk->first);
  if (used != used_.end() && used->first < chunk->first + chunk->second) return;
  add_freed({chunk->first, chunk->second});
  chunks_.erase(chunk);
}

void AddressSpace::add_freed(Range range) {
  // Ranges stay apart under `latest`, so that the next request of a size gets the very range that
  // was freed last.
  if (model_.chunk != 0 || model_.reuse != Reuse::latest) {
    for (auto other = freed_.begin(); other != freed_.end();) {
      const bool before = other->start + other->bytes == range.start;
      const bool after = range.start + range.bytes == other->start;
      if (before || after) {
        range.start = std::min(range.start, other->start);
        range.bytes += other->bytes;
        other = freed_.erase(other);
      } else {
        ++other;
      }
    }
  }
  freed_.push_back(range);
}

void AddressSpace::remove_freed(Range range) {
  const Address end = range.start + range.bytes;
  std::vector<Range> left;
  for (const Range& freed : freed_) {
    const Address freed_end = freed.start + freed.bytes;
    if (freed_end <= range.start || end <= freed.start) {
      left.push_back(freed);
      continue;
    }
    if (freed.start < range.start) left.push_back({freed.start, range.start - freed.start});
    if (end < freed_end) left.push_back({end, freed_end - end});
  }
  freed_ = std::move(left);
}

}  // namespace ebb::device
