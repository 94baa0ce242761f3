// SPDX-License-Identifier: Apache-2.0
#include "sites/python_frames.h"

#include <cstring>

namespace ebb::sites {
namespace {

// The same in all versions of kPythonLayouts.
constexpr std::uint64_t kType = 8;
constexpr std::uint64_t kVariableSize = 16;
constexpr std::uint64_t kBytesValue = 32;
constexpr std::uint64_t kTextLength = 16;
constexpr std::uint64_t kTextState = 32;
// From here on a frame is the interpreter's own, between those of C and those of Python (3.12).
constexpr std::uint8_t kOwnedByC = 3;
// Of a pointer to a code object: who counts it (3.14).
constexpr std::uint64_t kTag = 3;
// Longer tables are asked in vain: a page of them is asked of the kernel each.
constexpr std::uint64_t kLongestLines = 64 << 10;
constexpr std::size_t kLongestText = 240;

/// A text in UTF-8; of a long one its end, which tells files apart better than their beginning.
struct Text {
  char bytes[kLongestText];
  std::size_t size = 0;

  void add(std::uint32_t c) {
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6);
      put(0x80 | (c & 63));
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12);
      put(0x80 | (c >> 6 & 63));
      put(0x80 | (c & 63));
    } else {
      put(0xF0 | (c >> 18 & 7));
      put(0x80 | (c >> 12 & 63));
      put(0x80 | (c >> 6 & 63));
      put(0x80 | (c & 63));
    }
  }
  void put(std::uint32_t byte) {
    if (size < kLongestText) bytes[size++] = static_cast<char>(byte);
  }
};

bool read_text(Readable& memory, const PythonLayout& layout, std::uint64_t object, Text* text) {
  std::uint64_t length = 0;
  std::uint32_t state = 0;
  if (!memory.read(object + kTextLength, &length) || !memory.read(object + kTextState, &state))
    return false;
  const std::uint32_t width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4) || length > 1 << 16) return false;
  const std::uint64_t from = object + (is_ascii ? layout.text_ascii : layout.text_other);
  const std::uint64_t most = kLongestText / (is_ascii ? 1 : 4);
  const std::uint64_t first = length > most ? length - most : 0;
  if (!memory.holds(from + first * width, (length - first) * width)) return false;
  for (std::uint64_t i = first; i < length; ++i) {
    std::uint32_t c = 0;
    std::memcpy(&c, reinterpret_cast<const void*>(from + i * width), width);
    text->add(c);
  }
  return true;
}

/// One frame after the other, from the innermost outwards.
class Walk {
 public:
  Walk(Readable& memory, const PythonLayout& layout, std::uint64_t thread)
      : memory_(memory), layout_(layout) {
    is_there_ = thread != 0 && memory.read(thread + layout.thread_frame, &frame_);
    if (is_there_ && layout.through_frame != kNoMember)
      is_there_ = frame_ != 0 && memory.read(frame_ + layout.through_frame, &frame_);
    skip_foreign();
  }

  bool is_there() const { return is_there_ && frame_ != 0; }
  bool code(std::uint64_t* code) const {
    if (!memory_.read(frame_ + layout_.frame_code, code)) return false;
    *code &= ~kTag;
    return true;
  }
  void leave() {
    is_there_ = memory_.read(frame_ + layout_.frame_back, &frame_);
    skip_foreign();
  }

  bool line(std::uint64_t code, std::uint32_t* line) const {
    std::uint32_t first = 0;
    std::uint64_t table = 0, bytes = 0;
    std::uint64_t offset = 0;
    if (!memory_.read(code + layout_.code_first_line, &first) ||
        !memory_.read(code + layout_.code_lines, &table) ||
        !memory_.read(table + kVariableSize, &bytes) || !instruction(code, &offset))
      return false;
    *line = first;
    // A frame that is being made stands before its first instruction.
    if (static_cast<std::int64_t>(offset) < 0 || bytes > kLongestLines ||
        !memory_.holds(table + kBytesValue, bytes))
      return true;
    *line = line_at(layout_.lines, reinterpret_cast<const unsigned char*>(table + kBytesValue),
                    bytes, first, offset);
    return true;
  }

 private:
  bool instruction(std::uint64_t code, std::uint64_t* offset) const {
    if (layout_.code_instructions != kNoMember) {
      if (!memory_.read(frame_ + layout_.frame_instruction, offset)) return false;
      *offset -= code + layout_.code_instructions;
      return true;
    }
    std::int32_t index = 0;
    if (!memory_.read(frame_ + layout_.frame_instruction, &index)) return false;
    *offset = static_cast<std::uint64_t>(std::int64_t{index} * layout_.unit);
    return true;
  }

  void skip_foreign() {
    for (int i = 0; i < 64 && is_there() && layout_.frame_owner != kNoMember; ++i) {
      std::uint8_t owner = 0;
      is_there_ = memory_.read(frame_ + layout_.frame_owner, &owner);
      if (owner < kOwnedByC) return;
      is_there_ = is_there_ && memory_.read(frame_ + layout_.frame_back, &frame_);
    }
  }

  Readable& memory_;
  const PythonLayout& layout_;
  std::uint64_t frame_ = 0;
  bool is_there_ = false;
};

bool is_text(Readable& memory, const PythonLayout& layout, std::uint64_t object,
             const char* expected) {
  Text text;
  const std::size_t length = std::strlen(expected);
  if (!read_text(memory, layout, object, &text)) return false;
  const std::size_t cut = length > text.size ? length - text.size : 0;
  return (cut == 0 || text.size == kLongestText) && length - cut == text.size &&
         std::memcmp(text.bytes, expected + cut, text.size) == 0;
}

}  // namespace

bool PythonFrames::begin(unsigned minor, ThisThread find_thread, const char* file,
                         const char* function, std::uint32_t line) {
  for (const PythonLayout& layout : kPythonLayouts) {
    if (layout.minor != minor || find_thread == nullptr) continue;
    Readable memory;
    const Walk walk(memory, layout, reinterpret_cast<std::uint64_t>(find_thread()));
    std::uint64_t code = 0, type = 0, file_object = 0, name_object = 0;
    std::uint32_t found = 0;
    const bool is_right = walk.is_there() && walk.code(&code) && memory.read(code + kType, &type) &&
                          memory.read(code + layout.code_file, &file_object) &&
                          memory.read(code + layout.code_name, &name_object) &&
                          is_text(memory, layout, file_object, file) &&
                          is_text(memory, layout, name_object, function) &&
                          walk.line(code, &found) && found == line;
    if (!is_right) return false;
    this_thread_.store(find_thread, std::memory_order_relaxed);
    code_type_.store(type, std::memory_order_relaxed);
    layout_.store(&layout, std::memory_order_release);
    return true;
  }
  return false;
}

std::size_t PythonFrames::read(Readable& memory, Table& table, PythonCall* calls,
                               std::size_t most) const {
  const PythonLayout* const layout = layout_.load(std::memory_order_acquire);
  if (layout == nullptr) return 0;
  const ThisThread find_thread = this_thread_.load(std::memory_order_relaxed);
  Walk walk(memory, *layout, reinterpret_cast<std::uint64_t>(find_thread()));
  std::size_t count = 0;
  for (; count < most && walk.is_there(); walk.leave()) {
    std::uint64_t code = 0, type = 0, file = 0, name = 0;
    if (!walk.code(&code) || !memory.read(code + kType, &type) ||
        type != code_type_.load(std::memory_order_relaxed))
      break;
    PythonCall& call = calls[count];
    if (!memory.read(code + layout->code_file, &file) ||
        !memory.read(code + layout->code_name, &name) || !walk.line(code, &call.line))
      break;
    Text text;
    if (!read_text(memory, *layout, file, &text)) break;
    call.file = table.add_text({text.bytes, text.size});
    text.size = 0;
    if (!read_text(memory, *layout, name, &text)) break;
    call.function = table.add_text({text.bytes, text.size});
    ++count;
  }
  return count;
}

}  // namespace ebb::sites
