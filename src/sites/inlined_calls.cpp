// SPDX-License-Identifier: Apache-2.0
#include "sites/inlined_calls.h"

#include <optional>
#include <unordered_map>

#include "sites/dwarf_reader.h"
#include "sites/dwarf_value.h"

namespace ebb::sites {
namespace {

constexpr std::size_t kMostCalls = 64;  // at one address
// Ranges and kinds of entries that are read of a file: entries may share them, in a hostile one
// all.
constexpr std::uint64_t kMostSteps = 1 << 26;

// As DWARF numbers them.
constexpr std::uint64_t kInlinedSubroutine = 0x1D;  // a tag
enum Name : std::uint64_t {
  kLowPc = 0x11,
  kHighPc = 0x12,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kAddrBase = 0x73,
  kRnglistsBase = 0x74,
};

struct Attribute {
  std::uint64_t name = 0;
  std::uint64_t form = 0;
  std::int64_t implicit = 0;
};

/// What one kind of entry has, in this order.
struct Abbreviation {
  std::uint64_t tag = 0;
  std::vector<Attribute> attributes;
};
using Abbreviations = std::unordered_map<std::uint64_t, Abbreviation>;

std::string_view from(std::string_view section, std::uint64_t offset) {
  return offset < section.size() ? section.substr(offset) : std::string_view();
}

/// Counts down what is left of kMostSteps.
class Steps {
 public:
  bool take() { return left_ > 0 && left_-- > 0; }

 private:
  std::uint64_t left_ = kMostSteps;
};

Abbreviations read_abbreviations(std::string_view section, Steps& steps) {
  Abbreviations all;
  DwarfReader reader(section);
  while (!reader.is_over() && steps.take()) {
    const std::uint64_t code = reader.number();
    if (code == 0) break;
    Abbreviation& kind = all[code];
    kind = {reader.number(), {}};
    reader.fixed<std::uint8_t>();  // whether it has children
    while (!reader.is_over() && steps.take()) {
      Attribute attribute{reader.number(), reader.number(), 0};
      if (attribute.form == kFormImplicitConst) attribute.implicit = reader.signed_number();
      if (attribute.name == 0 && attribute.form == 0) break;
      kind.attributes.push_back(attribute);
    }
  }
  return all;
}

/// One unit of .debug_info.
class InfoUnit {
 public:
  InfoUnit(const InfoSections& sections, InlinedCalls& addresses, Steps& steps)
      : sections_(sections), addresses_(addresses), steps_(steps) {}

  void run(DwarfReader unit, bool is_64, std::map<std::uint64_t, Abbreviations>& known) {
    is_64_ = is_64;
    version_ = unit.fixed<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return;
    std::uint64_t kinds = 0;
    std::uint8_t size = 0;
    if (version_ == 5) {
      const auto kind = unit.fixed<std::uint8_t>();
      size = unit.fixed<std::uint8_t>();
      kinds = unit.offset(is_64);
      if (kind != 1 && kind != 3) return;  // types, and what lies in other files
    } else {
      kinds = unit.offset(is_64);
      size = unit.fixed<std::uint8_t>();
    }
    if (unit.failed() || size != 8) return;
    auto [found, is_new] = known.try_emplace(kinds);
    if (is_new) found->second = read_abbreviations(from(sections_.abbreviations, kinds), steps_);
    for (bool is_first = true; !unit.is_over(); is_first = false)
      if (!read_entry(unit, found->second, is_first)) return;
  }

 private:
  struct Entry {
    std::optional<DwarfValue> low;
    std::optional<DwarfValue> high;
    std::optional<DwarfValue> ranges;
    InlinedCall call;
  };

  bool read_entry(DwarfReader& unit, const Abbreviations& kinds, bool is_first) {
    const std::uint64_t code = unit.number();
    if (code == 0) return !unit.failed();
    const auto kind = kinds.find(code);
    if (kind == kinds.end()) return false;
    Entry entry;
    for (const Attribute& attribute : kind->second.attributes) {
      const auto value = read_value(unit, attribute.form, attribute.implicit, {version_, is_64_});
      if (!value) return false;
      take(attribute.name, *value, entry);
    }
    if (is_first) base_ = entry.low ? address_of(*entry.low) : 0;
    if (kind->second.tag == kInlinedSubroutine && entry.call.line > 0) note(entry);
    return true;
  }

  void take(std::uint64_t name, const DwarfValue& value, Entry& entry) {
    switch (name) {
      case kLowPc:
        entry.low = value;
        break;
      case kHighPc:
        entry.high = value;
        break;
      case kRanges:
        entry.ranges = value;
        break;
      case kCallFile:
        entry.call.file = value.number;
        break;
      case kCallLine:
        entry.call.line = value.number < UINT32_MAX ? static_cast<std::uint32_t>(value.number) : 0;
        break;
      case kAddrBase:
        addresses_at_ = value.number;
        break;
      case kRnglistsBase:
        lists_at_ = value.number;
        break;
      default:
        break;
    }
  }

  std::uint64_t indexed(std::uint64_t index) const {
    if (index > sections_.addresses.size()) return 0;
    return DwarfReader(from(sections_.addresses, addresses_at_ + 8 * index)).fixed<std::uint64_t>();
  }

  std::uint64_t address_of(const DwarfValue& value) const {
    return value.is_index() ? indexed(value.number) : value.number;
  }

  void note(const Entry& entry) {
    if (entry.ranges) {
      if (version_ < 5) return note_ranges(entry.call, entry.ranges->number);
      return note_list(entry.call, *entry.ranges);
    }
    if (!entry.low || !entry.high) return;
    const std::uint64_t low = address_of(*entry.low);
    const bool is_address = entry.high->form == kFormAddr || entry.high->is_index();
    note(entry.call, low, is_address ? address_of(*entry.high) : low + entry.high->number);
  }

  void note(const InlinedCall& call, std::uint64_t low, std::uint64_t high) {
    if (low <= 1) return;  // code that the linker has dropped
    for (auto at = addresses_.lower_bound(low); at != addresses_.end() && at->first < high; ++at)
      if (at->second.size() < kMostCalls) at->second.push_back(call);
  }

  void note_ranges(const InlinedCall& call, std::uint64_t offset) {
    DwarfReader list(from(sections_.ranges, offset));
    std::uint64_t base = base_;
    while (!list.is_over() && steps_.take()) {
      const auto low = list.fixed<std::uint64_t>();
      const auto high = list.fixed<std::uint64_t>();
      if (low == 0 && high == 0) return;
      if (low == UINT64_MAX) {
        base = high;
      } else {
        note(call, base + low, base + high);
      }
    }
  }

  void note_list(const InlinedCall& call, const DwarfValue& value) {
    std::uint64_t offset = value.number;
    if (value.form == kFormRnglistx) {
      if (offset > sections_.range_lists.size()) return;
      const std::uint64_t entry = lists_at_ + (is_64_ ? 8 : 4) * offset;
      offset = lists_at_ + DwarfReader(from(sections_.range_lists, entry)).offset(is_64_);
    }
    DwarfReader list(from(sections_.range_lists, offset));
    std::uint64_t base = base_;
    while (!list.is_over() && steps_.take()) {
      std::uint64_t low = 0;
      switch (list.fixed<std::uint8_t>()) {
        case 1:  // base_addressx
          base = indexed(list.number());
          break;
        case 2:  // startx_endx
          low = indexed(list.number());
          note(call, low, indexed(list.number()));
          break;
        case 3:  // startx_length
          low = indexed(list.number());
          note(call, low, low + list.number());
          break;
        case 4:  // offset_pair
          low = list.number();
          note(call, base + low, base + list.number());
          break;
        case 5:  // base_address
          base = list.fixed<std::uint64_t>();
          break;
        case 6:  // start_end
          low = list.fixed<std::uint64_t>();
          note(call, low, list.fixed<std::uint64_t>());
          break;
        case 7:  // start_length
          low = list.fixed<std::uint64_t>();
          note(call, low, low + list.number());
          break;
        default:  // the end
          return;
      }
    }
  }

  const InfoSections& sections_;
  InlinedCalls& addresses_;
  Steps& steps_;
  bool is_64_ = false;
  unsigned version_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t addresses_at_ = 8;  // of a section with one table
  std::uint64_t lists_at_ = 12;
};

}  // namespace

void find_inlined_calls(const InfoSections& sections, InlinedCalls& addresses) {
  if (addresses.empty()) return;
  std::map<std::uint64_t, Abbreviations> known;
  Steps steps;
  DwarfReader all(sections.info);
  while (!all.is_over()) {
    std::uint64_t length = all.fixed<std::uint32_t>();
    const bool is_64 = length == 0xFFFFFFFF;
    if (is_64) length = all.fixed<std::uint64_t>();
    const DwarfReader unit = all.part(length);
    if (!all.failed()) InfoUnit(sections, addresses, steps).run(unit, is_64, known);
  }
}

}  // namespace ebb::sites
