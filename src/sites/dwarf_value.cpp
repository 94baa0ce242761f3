// SPDX-License-Identifier: Apache-2.0
#include "sites/dwarf_value.h"

namespace ebb::sites {
namespace {

constexpr unsigned kMostIndirections = 4;

}  // namespace

std::optional<DwarfValue> read_value(DwarfReader& from, std::uint64_t form, std::int64_t implicit,
                                     const DwarfUnitForm& unit) {
  for (unsigned i = 0; form == kFormIndirect && i < kMostIndirections; ++i)
    form = from.number();
  DwarfValue value{0, form};
  const auto block = [&](std::uint64_t size) {
    value.number = size;
    from.part(size);
  };
  switch (form) {
    case kFormImplicitConst:
      value.number = static_cast<std::uint64_t>(implicit);
      break;
    case 0x19:  // flag_present
      value.number = 1;
      break;
    case 0x0B:
    case 0x0C:
    case 0x11:
    case 0x25:
    case kFormAddrx1:
      value.number = from.fixed<std::uint8_t>();
      break;
    case 0x05:
    case 0x12:
    case 0x26:
    case kFormAddrx2:
      value.number = from.fixed<std::uint16_t>();
      break;
    case 0x27:
    case kFormAddrx3:
      value.number = from.fixed<std::uint16_t>();
      value.number |= std::uint64_t{from.fixed<std::uint8_t>()} << 16;
      break;
    case 0x06:
    case 0x13:
    case 0x1C:
    case 0x28:
    case kFormAddrx4:
      value.number = from.fixed<std::uint32_t>();
      break;
    case kFormAddr:
    case 0x07:
    case 0x14:
    case 0x20:
    case 0x24:
      value.number = from.fixed<std::uint64_t>();
      break;
    case 0x10:  // ref_addr
      value.number = unit.version == 2 ? from.fixed<std::uint64_t>() : from.offset(unit.is_64);
      break;
    case 0x0E:
    case 0x17:
    case 0x1D:
    case 0x1F:
    case 0x1F20:
    case 0x1F21:
      value.number = from.offset(unit.is_64);
      break;
    case 0x0D:  // sdata
      value.number = static_cast<std::uint64_t>(from.signed_number());
      break;
    case 0x0F:
    case 0x15:
    case 0x1A:
    case kFormAddrx:
    case 0x22:
    case kFormRnglistx:
    case kFormGnuAddrIndex:
    case 0x1F02:
      value.number = from.number();
      break;
    case 0x08:  // string
      from.text();
      break;
    case 0x1E:  // data16
      block(16);
      break;
    case 0x0A:
      block(from.fixed<std::uint8_t>());
      break;
    case 0x03:
      block(from.fixed<std::uint16_t>());
      break;
    case 0x04:
      block(from.fixed<std::uint32_t>());
      break;
    case 0x09:
    case 0x18:
      block(from.number());
      break;
    default:
      return std::nullopt;
  }
  if (from.failed()) return std::nullopt;
  return value;
}

}  // namespace ebb::sites
