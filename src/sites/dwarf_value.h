// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sites/dwarf_reader.h"

namespace ebb::sites {

/// Some of DWARF's forms, in which values stand in a file.
enum DwarfForm : std::uint64_t {
  kFormAddr = 0x01,
  kFormIndirect = 0x16,
  kFormAddrx = 0x1B,
  kFormImplicitConst = 0x21,
  kFormRnglistx = 0x23,
  kFormAddrx1 = 0x29,
  kFormAddrx2 = 0x2A,
  kFormAddrx3 = 0x2B,
  kFormAddrx4 = 0x2C,
  kFormGnuAddrIndex = 0x1F01,
};

/// What a unit says about all of its values. Its addresses have 8 bytes.
struct DwarfUnitForm {
  unsigned version = 5;
  bool is_64 = false;  ///< offsets have 8 bytes
};

/// A number, an offset, an address, an index, or the length of a block; of a text nothing.
struct DwarfValue {
  std::uint64_t number = 0;
  std::uint64_t form = 0;

  /// An address by its number in .debug_addr.
  bool is_index() const {
    return form == kFormAddrx || (form >= kFormAddrx1 && form <= kFormAddrx4) ||
           form == kFormGnuAddrIndex;
  }
};

/// The next value, in a form of DWARF 2 to 5; nothing for another form, and at the end of the
/// bytes. `implicit`: what stands with the form instead.
std::optional<DwarfValue> read_value(DwarfReader& from, std::uint64_t form, std::int64_t implicit,
                                     const DwarfUnitForm& unit);

}  // namespace ebb::sites
