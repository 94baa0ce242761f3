// SPDX-License-Identifier: Apache-2.0
#include "device/ledger.h"

#include <cinttypes>
#include <iterator>

#include "base/bytes.h"

namespace ebb::device {

using base::Code;
using base::Status;

namespace {

bool runs_over(Address address, std::uint64_t bytes) {
  return address + bytes < address;
}

}  // namespace

Status Ledger::can_hold(std::uint64_t bytes) const {
  const std::uint64_t free = rules_.capacity - used_;
  if (bytes <= free) return {};
  return base::error(Code::out_of_memory, "%s: %s asked for, %s of %s left", rules_.where.c_str(),
                     base::bytes_text(bytes).c_str(), base::bytes_text(free).c_str(),
                     base::bytes_text(rules_.capacity).c_str());
}

Status Ledger::has_virtual_memory() const {
  if (rules_.granularity != 0) return {};
  return base::error(Code::unavailable, "%s: no virtual memory management", rules_.where.c_str());
}

Status Ledger::can_allocate(std::uint64_t bytes) const {
  if (bytes == 0) {
    return base::error(Code::bad_input, "%s: a segment of 0 bytes", rules_.where.c_str());
  }
  return can_hold(bytes);
}

Status Ledger::can_release(Address address, std::uint64_t bytes) const {
  const auto found = segments_.find(address);
  if (found == segments_.end()) {
    return base::error(Code::bad_input, "%s: no segment starts at 0x%" PRIx64, rules_.where.c_str(),
                       address);
  }
  if (found->second == bytes) return {};
  return base::error(Code::bad_input,
                     "%s: the segment at 0x%" PRIx64 " has %" PRIu64 " bytes, not %" PRIu64,
                     rules_.where.c_str(), address, found->second, bytes);
}

Status Ledger::can_reserve(std::uint64_t bytes) const {
  if (Status known = has_virtual_memory(); !known) return known;
  if (bytes != 0 && bytes % rules_.granularity == 0) return {};
  return base::error(Code::bad_input,
                     "%s: a reservation of %" PRIu64 " bytes, expected a multiple of %" PRIu64,
                     rules_.where.c_str(), bytes, rules_.granularity);
}

Status Ledger::can_unreserve(Address address, std::uint64_t bytes) const {
  if (Status known = has_virtual_memory(); !known) return known;
  const auto found = reservations_.find(address);
  if (found == reservations_.end()) {
    return base::error(Code::bad_input, "%s: no reservation starts at 0x%" PRIx64,
                       rules_.where.c_str(), address);
  }
  if (found->second.bytes != bytes) {
    return base::error(Code::bad_input,
                       "%s: the reservation at 0x%" PRIx64 " has %" PRIu64 " bytes, not %" PRIu64,
                       rules_.where.c_str(), address, found->second.bytes, bytes);
  }
  if (found->second.pages.empty()) return {};
  return base::error(Code::bad_input,
                     "%s: the reservation at 0x%" PRIx64 " still has %zu pages mapped",
                     rules_.where.c_str(), address, found->second.pages.size());
}

base::Result<std::uint64_t> Ledger::page_bytes(Address address, std::uint64_t page,
                                               std::uint64_t count) const {
  if (Status known = has_virtual_memory(); !known) return known.error();
  std::uint64_t bytes = 0;
  if (page == 0 || count == 0 || page % rules_.granularity != 0 ||
      __builtin_mul_overflow(page, count, &bytes) || runs_over(address, bytes)) {
    return base::error(Code::bad_input,
                       "%s: %" PRIu64 " pages of %" PRIu64 " bytes, expected multiples of %" PRIu64,
                       rules_.where.c_str(), count, page, rules_.granularity);
  }
  if (address % rules_.granularity != 0 || reservation_around(address, bytes) == nullptr) {
    return base::error(
        Code::bad_input,
        "%s: %s at 0x%" PRIx64 ", expected a multiple of %" PRIu64 " inside one reservation",
        rules_.where.c_str(), base::bytes_text(bytes).c_str(), address, rules_.granularity);
  }
  return bytes;
}

Status Ledger::can_map(Address address, std::uint64_t page, std::uint64_t count) const {
  const auto bytes = page_bytes(address, page, count);
  if (!bytes) return bytes.error();
  const auto& pages = reservation_around(address, *bytes)->pages;
  const auto after = pages.lower_bound(address + *bytes);
  if (after != pages.begin()) {
    const auto& [start, size] = *std::prev(after);
    if (start + size > address) {
      return base::error(Code::bad_input, "%s: the page at 0x%" PRIx64 " is mapped already",
                         rules_.where.c_str(), start);
    }
  }
  return can_hold(*bytes);
}

Status Ledger::can_unmap(Address address, std::uint64_t page, std::uint64_t count) const {
  const auto bytes = page_bytes(address, page, count);
  if (!bytes) return bytes.error();
  const auto& pages = reservation_around(address, *bytes)->pages;
  auto found = pages.find(address);
  for (std::uint64_t i = 0; i < count; ++i, ++found) {
    const Address expected = address + i * page;
    if (found == pages.end() || found->first != expected || found->second != page) {
      return base::error(Code::bad_input,
                         "%s: no page of %" PRIu64 " bytes is mapped at 0x%" PRIx64,
                         rules_.where.c_str(), page, expected);
    }
  }
  return {};
}

void Ledger::allocated(Address address, std::uint64_t bytes) {
  EBB_CHECK(segments_.emplace(address, bytes).second);
  used_ += bytes;
}

void Ledger::released(Address address) {
  const auto found = segments_.find(address);
  EBB_CHECK(found != segments_.end());
  used_ -= found->second;
  segments_.erase(found);
}

void Ledger::reserved(Address address, std::uint64_t bytes) {
  EBB_CHECK(reservations_.emplace(address, Reservation{bytes, {}}).second);
}

void Ledger::unreserved(Address address) {
  EBB_CHECK(reservations_.erase(address) == 1);
}

void Ledger::mapped(Address address, std::uint64_t page, std::uint64_t count) {
  auto& pages = reservation_at(address).pages;
  for (std::uint64_t i = 0; i < count; ++i) {
    pages.emplace(address + i * page, page);
  }
  used_ += page * count;
}

void Ledger::unmapped(Address address, std::uint64_t page, std::uint64_t count) {
  auto& pages = reservation_at(address).pages;
  const auto first = pages.find(address);
  pages.erase(first, std::next(first, static_cast<std::ptrdiff_t>(count)));
  used_ -= page * count;
}

const Ledger::Reservation* Ledger::reservation_around(Address address, std::uint64_t bytes) const {
  const auto after = reservations_.upper_bound(address);
  if (after == reservations_.begin()) return nullptr;
  const auto& [start, reservation] = *std::prev(after);
  return address + bytes <= start + reservation.bytes ? &reservation : nullptr;
}

Ledger::Reservation& Ledger::reservation_at(Address address) {
  const auto after = reservations_.upper_bound(address);
  EBB_CHECK(after != reservations_.begin());
  return std::prev(after)->second;
}

}  // namespace ebb::device
