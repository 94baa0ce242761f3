// SPDX-License-Identifier: Apache-2.0
#include "sites/unwind_rule.h"

#include <cstring>

#include "sites/dwarf_reader.h"

namespace ebb::sites {
namespace {

using Base = UnwindRule::Base;
using Saved = UnwindRule::Saved;

// DWARF's numbers of registers on x86-64.
constexpr std::uint64_t kFp = 6, kSp = 7, kReturn = 16;
// Longer programs are no honest function's.
constexpr std::size_t kLongestProgram = 64 << 10;
constexpr int kDeepestStates = 8;

/// A pointer in one of DWARF's encodings.
std::uint64_t read_pointer(DwarfReader& reader, std::uint8_t encoding) {
  const auto here = reinterpret_cast<std::uint64_t>(reader.at());
  std::uint64_t value = 0;
  switch (encoding & 0x0F) {
    case 0x00:
    case 0x04:
    case 0x0C:
      value = reader.fixed<std::uint64_t>();
      break;
    case 0x03:
      value = reader.fixed<std::uint32_t>();
      break;
    case 0x0B:
      value = static_cast<std::uint64_t>(std::int64_t{reader.fixed<std::int32_t>()});
      break;
    default:
      reader.fail();
  }
  if ((encoding & 0x70) == 0x10) value += here;
  return value;
}

/// What stands at `at` behind its own length; failed where there is nothing.
DwarfReader entry_at(const unsigned char* at) {
  const auto length = DwarfReader(at, 4).fixed<std::uint32_t>();
  DwarfReader entry(at + 4, length);
  if (length == 0 || length > kLongestProgram) entry.fail();
  return entry;
}

struct State {
  Base base = Base::none;
  Saved saved = Saved::same;
  std::int64_t offset = 0;
  std::int64_t saved_offset = 0;
  bool has_return = true;  ///< the return address is where a call leaves it
};

struct Common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointers = 0;
  bool has_augmentation = false;
  bool is_signal = false;
  DwarfReader program{std::string_view()};
};

bool read_common(const unsigned char* at, Common* common) {
  DwarfReader entry = entry_at(at);
  if (entry.fixed<std::uint32_t>() != 0) return false;
  const auto version = entry.fixed<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const std::string_view augmentation = entry.text();
  common->code_factor = entry.number();
  common->data_factor = entry.signed_number();
  if (entry.number() != kReturn) return false;
  if (augmentation.starts_with('z')) {
    common->has_augmentation = true;
    DwarfReader data = entry.part(entry.number());
    for (const char letter : augmentation.substr(1)) {
      if (letter == 'R') common->pointers = data.fixed<std::uint8_t>();
      if (letter == 'L') data.part(1);
      if (letter == 'S') common->is_signal = true;
      if (letter == 'P') read_pointer(data, data.fixed<std::uint8_t>());
    }
    if (data.failed()) return false;
  } else if (!augmentation.empty()) {
    return false;
  }
  common->program = entry;
  return !entry.failed();
}

/// Runs a program of call frame instructions until it has passed `pc`.
class Machine {
 public:
  Machine(const Common& common, std::uint64_t location, std::uint64_t pc)
      : common_(common), location_(location), pc_(pc) {}

  State state;

  /// What DW_CFA_restore goes back to.
  void keep_initial() { initial_ = state; }

  bool run(DwarfReader program) {
    while (!program.is_over() && location_ <= pc_) {
      const auto code = program.fixed<std::uint8_t>();
      if (!step(code, program)) return false;
    }
    return !program.failed();
  }

 private:
  bool step(std::uint8_t code, DwarfReader& program) {
    const std::uint8_t low = code & 0x3F;
    switch (code & 0xC0) {
      case 0x40:
        location_ += low * common_.code_factor;
        return true;
      case 0x80:
        set_offset(low, static_cast<std::int64_t>(program.number()));
        return true;
      case 0xC0:
        restore(low);
        return true;
      default:
        return extended(code, program);
    }
  }

  bool extended(std::uint8_t code, DwarfReader& program) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location_ = read_pointer(program, common_.pointers);
        return true;
      case 0x02:
        location_ += program.fixed<std::uint8_t>() * common_.code_factor;
        return true;
      case 0x03:
        location_ += program.fixed<std::uint16_t>() * common_.code_factor;
        return true;
      case 0x04:
        location_ += program.fixed<std::uint32_t>() * common_.code_factor;
        return true;
      case 0x05: {  // offset_extended
        const std::uint64_t reg = program.number();
        set_offset(reg, static_cast<std::int64_t>(program.number()));
        return true;
      }
      case 0x06:  // restore_extended
        restore(program.number());
        return true;
      case 0x07: {  // undefined: the outermost function has no return address
        if (program.number() == kReturn) state.has_return = false;
        return true;
      }
      case 0x08:  // same_value
        if (program.number() == kFp) state.saved = Saved::same;
        return true;
      case 0x09: {  // register
        const std::uint64_t reg = program.number();
        program.number();
        return reg != kFp && reg != kReturn;
      }
      case 0x0A:  // remember_state
        if (depth_ == kDeepestStates) return false;
        kept_[depth_++] = state;
        return true;
      case 0x0B:  // restore_state
        if (depth_ == 0) return false;
        state = kept_[--depth_];
        return true;
      case 0x0C: {  // def_cfa
        const std::uint64_t reg = program.number();
        return set_base(reg, static_cast<std::int64_t>(program.number()));
      }
      case 0x0D:  // def_cfa_register
        return set_base(program.number(), state.offset);
      case 0x0E:  // def_cfa_offset
        state.offset = static_cast<std::int64_t>(program.number());
        return true;
      case 0x0F:  // def_cfa_expression
        return set_base_expression(program);
      case 0x10:  // expression
      case 0x16:  // val_expression
        return set_saved_expression(program, code == 0x10);
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = program.number();
        set_offset(reg, program.signed_number());
        return true;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = program.number();
        return set_base(reg, program.signed_number() * common_.data_factor);
      }
      case 0x13:  // def_cfa_offset_sf
        state.offset = program.signed_number() * common_.data_factor;
        return true;
      case 0x2E:  // GNU_args_size
        program.number();
        return true;
      default:
        return false;
    }
  }

  bool set_base(std::uint64_t reg, std::int64_t offset) {
    state.base = reg == kSp ? Base::sp : reg == kFp ? Base::fp : Base::none;
    state.offset = offset;
    return true;
  }

  /// Functions that align their stack: the frame is kept at a place that the frame pointer names.
  bool set_base_expression(DwarfReader& program) {
    DwarfReader expression = program.part(program.number());
    state.base = Base::none;
    if (expression.fixed<std::uint8_t>() != 0x70 + kFp) return !program.failed();  // breg6
    const std::int64_t offset = expression.signed_number();
    if (expression.fixed<std::uint8_t>() != 0x06 || expression.left() != 0)  // deref
      return !program.failed();
    state.base = Base::fp_deref;
    state.offset = offset;
    return !program.failed();
  }

  bool set_saved_expression(DwarfReader& program, bool is_address) {
    const std::uint64_t reg = program.number();
    DwarfReader expression = program.part(program.number());
    if (reg != kFp) return !program.failed() && reg != kReturn;
    const bool is_fp = expression.fixed<std::uint8_t>() == 0x70 + kFp;
    state.saved = Saved::fp;
    state.saved_offset = expression.signed_number();
    return !program.failed() && is_fp && is_address;
  }

  void set_offset(std::uint64_t reg, std::int64_t factored) {
    if (reg != kFp) return;
    state.saved = Saved::frame;
    state.saved_offset = factored * common_.data_factor;
  }

  void restore(std::uint64_t reg) {
    if (reg != kFp) return;
    state.saved = initial_.saved;
    state.saved_offset = initial_.saved_offset;
  }

  const Common& common_;
  std::uint64_t location_;
  std::uint64_t pc_;
  State initial_;
  State kept_[kDeepestStates];
  int depth_ = 0;
};

/// The description of the function that `pc` lies in, by the sorted table of the header.
const unsigned char* find_description(std::uint64_t pc, const unsigned char* header) {
  // Version 1, a table of pairs of 32 bits, relative to the header: what all linkers write.
  if (header[0] != 1 || header[2] != 0x03 || header[3] != 0x3B) return nullptr;
  DwarfReader reader(header + 4, 60);
  read_pointer(reader, header[1]);
  const auto count = reader.fixed<std::uint32_t>();
  if (reader.failed() || count == 0) return nullptr;
  const unsigned char* const table = reader.at();
  const auto offset_at = [&](std::size_t index, std::size_t part) {
    std::int32_t value = 0;
    std::memcpy(&value, table + index * 8 + part * 4, 4);
    return static_cast<std::int64_t>(value);
  };
  const auto wanted = static_cast<std::int64_t>(pc - reinterpret_cast<std::uint64_t>(header));
  if (wanted < offset_at(0, 0)) return nullptr;
  std::size_t low = 0, high = count;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (offset_at(middle, 0) <= wanted ? low : high) = middle;
  }
  return header + offset_at(low, 1);
}

}  // namespace

UnwindRule rule_at(std::uint64_t pc, const unsigned char* eh_frame_hdr) {
  const unsigned char* const description = find_description(pc, eh_frame_hdr);
  if (description == nullptr) return {};
  DwarfReader entry = entry_at(description);
  const unsigned char* const back = entry.at();
  const auto distance = entry.fixed<std::uint32_t>();
  Common common;
  if (distance == 0 || !read_common(back - distance, &common) || common.is_signal) return {};
  const std::uint64_t begin = read_pointer(entry, common.pointers);
  const std::uint64_t bytes = read_pointer(entry, common.pointers & 0x0F);
  if (entry.failed() || pc < begin || pc - begin >= bytes) return {};
  if (common.has_augmentation) entry.part(entry.number());
  Machine machine(common, begin, pc);
  if (!machine.run(common.program)) return {};
  machine.keep_initial();
  if (!machine.run(entry)) return {};
  const State& state = machine.state;
  UnwindRule rule;
  rule.function = begin;
  const bool fits = state.offset == static_cast<std::int32_t>(state.offset) &&
                    state.saved_offset == static_cast<std::int16_t>(state.saved_offset);
  if (!state.has_return || !fits) return rule;
  rule.base = state.base;
  rule.saved = state.saved;
  rule.offset = static_cast<std::int32_t>(state.offset);
  rule.saved_offset = static_cast<std::int16_t>(state.saved_offset);
  return rule;
}

}  // namespace ebb::sites
