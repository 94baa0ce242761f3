// SPDX-License-Identifier: Apache-2.0
#include "sites/unwind_rule.h"

#include <cstring>

namespace ebb::sites {
namespace {

using Base = UnwindRule::Base;
using Saved = UnwindRule::Saved;

// DWARF's numbers of registers on x86-64.
constexpr std::uint64_t kFp = 6, kSp = 7, kReturn = 16;
// Longer programs are no honest function's.
constexpr std::size_t kLongestProgram = 64 << 10;
constexpr int kDeepestStates = 8;

/// Reads forward; once `ok` is false, everything is zero.
struct Cursor {
  const unsigned char* at;
  const unsigned char* end;
  bool ok = true;

  template <class T>
  T fixed() {
    T value{};
    if (!ok || static_cast<std::size_t>(end - at) < sizeof(T)) {
      ok = false;
      return value;
    }
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  std::uint64_t unsigned_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok = false;
    return 0;
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) == 0) {
        if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
        return static_cast<std::int64_t>(value);
      }
    }
    ok = false;
    return 0;
  }
  void skip(std::uint64_t bytes) {
    if (bytes > static_cast<std::size_t>(end - at)) {
      ok = false;
    } else {
      at += bytes;
    }
  }
  /// A pointer in one of DWARF's encodings.
  std::uint64_t pointer(std::uint8_t encoding) {
    const auto here = reinterpret_cast<std::uint64_t>(at);
    std::uint64_t value = 0;
    switch (encoding & 0x0F) {
      case 0x00:
      case 0x04:
      case 0x0C:
        value = fixed<std::uint64_t>();
        break;
      case 0x03:
        value = fixed<std::uint32_t>();
        break;
      case 0x0B:
        value = static_cast<std::uint64_t>(std::int64_t{fixed<std::int32_t>()});
        break;
      default:
        ok = false;
    }
    if ((encoding & 0x70) == 0x10) value += here;
    return value;
  }
};

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
  Cursor program{nullptr, nullptr};
};

bool read_common(const unsigned char* at, Common* common) {
  Cursor cursor{at, at + 4};
  const auto length = cursor.fixed<std::uint32_t>();
  if (length == 0 || length > kLongestProgram) return false;
  cursor.end = at + 4 + length;
  if (cursor.fixed<std::uint32_t>() != 0) return false;
  const auto version = cursor.fixed<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const unsigned char* const augmentation = cursor.at;
  while (cursor.fixed<std::uint8_t>() != 0 && cursor.ok) {
  }
  common->code_factor = cursor.unsigned_number();
  common->data_factor = cursor.signed_number();
  if (cursor.unsigned_number() != kReturn) return false;
  if (augmentation[0] == 'z') {
    common->has_augmentation = true;
    const std::uint64_t bytes = cursor.unsigned_number();
    Cursor data = cursor;
    for (const unsigned char* letter = augmentation + 1; *letter != 0 && data.ok; ++letter) {
      if (*letter == 'R') common->pointers = data.fixed<std::uint8_t>();
      if (*letter == 'L') data.skip(1);
      if (*letter == 'S') common->is_signal = true;
      if (*letter == 'P') data.pointer(data.fixed<std::uint8_t>());
    }
    if (!data.ok) return false;
    cursor.skip(bytes);
  } else if (augmentation[0] != 0) {
    return false;
  }
  common->program = cursor;
  return cursor.ok;
}

/// Runs a program of call frame instructions until it has passed `pc`.
class Machine {
 public:
  Machine(const Common& common, std::uint64_t location, std::uint64_t pc)
      : common_(common), location_(location), pc_(pc) {}

  State state;

  /// What DW_CFA_restore goes back to.
  void keep_initial() { initial_ = state; }

  bool run(Cursor program) {
    while (program.ok && program.at < program.end && location_ <= pc_) {
      const auto code = program.fixed<std::uint8_t>();
      if (!step(code, program)) return false;
    }
    return program.ok;
  }

 private:
  bool step(std::uint8_t code, Cursor& program) {
    const std::uint8_t low = code & 0x3F;
    switch (code & 0xC0) {
      case 0x40:
        location_ += low * common_.code_factor;
        return true;
      case 0x80:
        set_offset(low, static_cast<std::int64_t>(program.unsigned_number()));
        return true;
      case 0xC0:
        restore(low);
        return true;
      default:
        return extended(code, program);
    }
  }

  bool extended(std::uint8_t code, Cursor& program) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        location_ = program.pointer(common_.pointers);
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
        const std::uint64_t reg = program.unsigned_number();
        set_offset(reg, static_cast<std::int64_t>(program.unsigned_number()));
        return true;
      }
      case 0x06:  // restore_extended
        restore(program.unsigned_number());
        return true;
      case 0x07: {  // undefined: the outermost function has no return address
        if (program.unsigned_number() == kReturn) state.has_return = false;
        return true;
      }
      case 0x08:  // same_value
        if (program.unsigned_number() == kFp) state.saved = Saved::same;
        return true;
      case 0x09: {  // register
        const std::uint64_t reg = program.unsigned_number();
        program.unsigned_number();
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
        const std::uint64_t reg = program.unsigned_number();
        return set_base(reg, static_cast<std::int64_t>(program.unsigned_number()));
      }
      case 0x0D:  // def_cfa_register
        return set_base(program.unsigned_number(), state.offset);
      case 0x0E:  // def_cfa_offset
        state.offset = static_cast<std::int64_t>(program.unsigned_number());
        return true;
      case 0x0F:  // def_cfa_expression
        return set_base_expression(program);
      case 0x10:  // expression
      case 0x16:  // val_expression
        return set_saved_expression(program, code == 0x10);
      case 0x11: {  // offset_extended_sf
        const std::uint64_t reg = program.unsigned_number();
        set_offset(reg, program.signed_number());
        return true;
      }
      case 0x12: {  // def_cfa_sf
        const std::uint64_t reg = program.unsigned_number();
        return set_base(reg, program.signed_number() * common_.data_factor);
      }
      case 0x13:  // def_cfa_offset_sf
        state.offset = program.signed_number() * common_.data_factor;
        return true;
      case 0x2E:  // GNU_args_size
        program.unsigned_number();
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
  bool set_base_expression(Cursor& program) {
    const std::uint64_t bytes = program.unsigned_number();
    Cursor expression = program;
    program.skip(bytes);
    expression.end = program.at;
    state.base = Base::none;
    if (expression.fixed<std::uint8_t>() != 0x70 + kFp) return program.ok;  // breg6
    const std::int64_t offset = expression.signed_number();
    if (expression.fixed<std::uint8_t>() != 0x06 || expression.at != expression.end)  // deref
      return program.ok;
    state.base = Base::fp_deref;
    state.offset = offset;
    return program.ok;
  }

  bool set_saved_expression(Cursor& program, bool is_address) {
    const std::uint64_t reg = program.unsigned_number();
    const std::uint64_t bytes = program.unsigned_number();
    Cursor expression = program;
    program.skip(bytes);
    if (reg != kFp) return program.ok && reg != kReturn;
    const bool is_fp = expression.fixed<std::uint8_t>() == 0x70 + kFp;
    state.saved = Saved::fp;
    state.saved_offset = expression.signed_number();
    return program.ok && is_fp && is_address;
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
  Cursor cursor{header + 4, header + 64};
  cursor.pointer(header[1]);
  const auto count = cursor.fixed<std::uint32_t>();
  if (!cursor.ok || count == 0) return nullptr;
  const unsigned char* const table = cursor.at;
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
  Cursor cursor{description, description + 4};
  const auto length = cursor.fixed<std::uint32_t>();
  if (length == 0 || length > kLongestProgram) return {};
  cursor.end = description + 4 + length;
  const unsigned char* const back = cursor.at;
  const auto distance = cursor.fixed<std::uint32_t>();
  Common common;
  if (distance == 0 || !read_common(back - distance, &common) || common.is_signal) return {};
  const std::uint64_t begin = cursor.pointer(common.pointers);
  const std::uint64_t bytes = cursor.pointer(common.pointers & 0x0F);
  if (!cursor.ok || pc < begin || pc - begin >= bytes) return {};
  if (common.has_augmentation) cursor.skip(cursor.unsigned_number());
  Machine machine(common, begin, pc);
  if (!machine.run(common.program)) return {};
  machine.keep_initial();
  if (!machine.run(cursor)) return {};
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
