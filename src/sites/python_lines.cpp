// SPDX-License-Identifier: Apache-2.0
#include "sites/python_frames.h"

namespace ebb::sites {
namespace {

struct Bytes {
  const unsigned char* at;
  const unsigned char* end;

  bool is_over() const { return at >= end; }
  unsigned next() { return is_over() ? 0 : *at++; }
  /// Six bits a byte, the lowest first.
  std::uint32_t number() {
    unsigned byte = next();
    std::uint32_t value = byte & 63;
    for (unsigned shift = 6; (byte & 64) != 0 && shift < 30; shift += 6) {
      byte = next();
      value |= (byte & 63) << shift;
    }
    return value;
  }
  std::int32_t signed_number() {
    const std::uint32_t value = number();
    const auto size = static_cast<std::int32_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }
};

std::uint32_t moved(std::uint32_t line, std::int32_t by) {
  return line + static_cast<std::uint32_t>(by);
}

std::uint32_t line_in_pairs(Bytes table, std::uint32_t line, std::uint64_t offset) {
  std::uint64_t at = 0;
  while (!table.is_over()) {
    at += table.next();
    if (at > offset) break;
    line = moved(line, static_cast<signed char>(table.next()));
  }
  return line;
}

std::uint32_t line_in_ranges(Bytes table, std::uint32_t first, std::uint64_t offset) {
  std::uint32_t line = first;
  std::uint64_t end = 0;
  while (!table.is_over()) {
    end += table.next();
    const auto by = static_cast<signed char>(table.next());
    if (by != -128) line = moved(line, by);
    if (offset < end) return line;
  }
  return first;
}

std::uint32_t line_in_locations(Bytes table, std::uint32_t first, std::uint64_t offset) {
  std::uint32_t line = first;
  std::uint64_t end = 0;
  while (!table.is_over()) {
    const unsigned head = table.next();
    const unsigned code = head >> 3 & 15;
    end += 2 * ((head & 7) + 1);
    if (code == 14) {
      line = moved(line, table.signed_number());
      table.number();
      table.number();
      table.number();
    } else if (code == 13) {
      line = moved(line, table.signed_number());
    } else if (code >= 10 && code <= 12) {
      line += code - 10;
      table.next();
      table.next();
    } else if (code < 10) {
      table.next();
    }
    if (offset < end) return line;
  }
  return first;
}

}  // namespace

std::uint32_t line_at(LineTable kind, const unsigned char* table, std::size_t bytes,
                      std::uint32_t first, std::uint64_t offset) {
  const Bytes all{table, table + bytes};
  switch (kind) {
    case LineTable::pairs:
      return line_in_pairs(all, first, offset);
    case LineTable::ranges:
      return line_in_ranges(all, first, offset);
    case LineTable::locations:
      return line_in_locations(all, first, offset);
  }
  return first;
}

}  // namespace ebb::sites
