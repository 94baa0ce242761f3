// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "device/driver.h"

namespace ebb::device {

/// What one device has handed out: plain segments, reservations and their mapped pages. Every kind
/// of Driver asks it before it acts (`can_…`: the contract of Driver, as an error) and tells it
/// after. Not thread-safe.
class Ledger {
 public:
  struct Rules {
    std::string where;              ///< for messages: "sim device 0"
    std::uint64_t capacity = 0;     ///< bytes of segments and mapped pages together
    std::uint64_t granularity = 0;  ///< of reservations and pages; 0: no virtual memory
  };

  struct Reservation {
    std::uint64_t bytes = 0;
    std::map<Address, std::uint64_t> pages;  ///< start -> bytes, of the mapped ones
  };

  explicit Ledger(Rules rules) : rules_(std::move(rules)) {}

  base::Status can_allocate(std::uint64_t bytes) const;
  base::Status can_release(Address address, std::uint64_t bytes) const;
  base::Status can_reserve(std::uint64_t bytes) const;
  base::Status can_unreserve(Address address, std::uint64_t bytes) const;
  base::Status can_map(Address address, std::uint64_t page, std::uint64_t count) const;
  base::Status can_unmap(Address address, std::uint64_t page, std::uint64_t count) const;

  /// Require: the matching `can_…` succeeded and nothing changed since.
  void allocated(Address address, std::uint64_t bytes);
  void released(Address address);
  void reserved(Address address, std::uint64_t bytes);
  void unreserved(Address address);
  void mapped(Address address, std::uint64_t page, std::uint64_t count);
  void unmapped(Address address, std::uint64_t page, std::uint64_t count);

  /// Bytes with memory behind them.
  std::uint64_t used() const { return used_; }

  const std::map<Address, std::uint64_t>& segments() const { return segments_; }
  const std::map<Address, Reservation>& reservations() const { return reservations_; }

 private:
  base::Status can_hold(std::uint64_t bytes) const;
  base::Status has_virtual_memory() const;
  base::Result<std::uint64_t> page_bytes(Address address, std::uint64_t page,
                                         std::uint64_t count) const;
  const Reservation* reservation_around(Address address, std::uint64_t bytes) const;
  Reservation& reservation_at(Address address);

  Rules rules_;
  std::uint64_t used_ = 0;
  std::map<Address, std::uint64_t> segments_;
  std::map<Address, Reservation> reservations_;
};

}  // namespace ebb::device
