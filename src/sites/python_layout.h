// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ebb::sites {

/// How lines are told from instructions.
enum class LineTable : std::uint8_t {
  pairs,      ///< 3.9: bytes and lines
  ranges,     ///< 3.10: the same with instructions that have no line
  locations,  ///< 3.11 and later
};

/// Where one minor version of CPython keeps what a stack is read from, on 64-bit machines. The
/// numbers are those of its headers; kNoMember where there is no such thing.
struct PythonLayout {
  static constexpr std::uint16_t kNoMember = 0xFFFF;

  std::uint8_t minor;
  LineTable lines;
  std::uint8_t unit;  ///< bytes that one step of the last instruction stands for
  // From a thread to its innermost frame; through a second structure where there is one.
  std::uint16_t thread_frame;
  std::uint16_t through_frame;
  // A frame.
  std::uint16_t frame_code;
  std::uint16_t frame_back;
  std::uint16_t frame_instruction;  ///< a pointer, or from 3.9 to 3.10 an index
  std::uint16_t frame_owner;
  // A code object.
  std::uint16_t code_file;
  std::uint16_t code_name;
  std::uint16_t code_first_line;
  std::uint16_t code_lines;
  std::uint16_t code_instructions;
  // Text behind its head: of ASCII alone, and of other characters.
  std::uint16_t text_ascii;
  std::uint16_t text_other;
};

inline constexpr std::uint16_t kNoMember = PythonLayout::kNoMember;

inline constexpr PythonLayout kPythonLayouts[] = {
    {9, LineTable::pairs, 1, 24, kNoMember, 32, 24, 104, kNoMember, 104, 112, 40, 120, kNoMember,
     48, 72},
    {10, LineTable::ranges, 2, 24, kNoMember, 32, 24, 96, kNoMember, 104, 112, 40, 120, kNoMember,
     48, 72},
    {11, LineTable::locations, 1, 56, 8, 32, 48, 56, 69, 112, 128, 72, 136, 184, 48, 72},
    {12, LineTable::locations, 1, 56, 0, 0, 8, 56, 70, 112, 128, 68, 136, 192, 40, 56},
    {13, LineTable::locations, 1, 72, kNoMember, 0, 8, 56, 70, 112, 128, 68, 136, 200, 40, 56},
    {14, LineTable::locations, 1, 72, kNoMember, 0, 8, 56, 74, 112, 128, 68, 136, 208, 40, 56},
};

}  // namespace ebb::sites
