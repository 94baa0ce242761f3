// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::sites {

/// How to get from a function to its caller, on x86-64: where the frame of the caller begins (its
/// stack pointer after the return), and where the caller's frame pointer is kept.
struct UnwindRule {
  enum class Base : std::uint8_t {
    none,      ///< not known, or the outermost function
    sp,        ///< the frame begins at the stack pointer plus `offset`
    fp,        ///< the same of the frame pointer
    fp_deref,  ///< at the address that is kept at the frame pointer plus `offset`
  };
  enum class Saved : std::uint8_t {
    same,   ///< the frame pointer was not touched
    frame,  ///< kept at the beginning of the frame plus `saved_offset`
    fp,     ///< at the frame pointer plus `saved_offset`
  };
  Base base = Base::none;
  Saved saved = Saved::same;
  std::int32_t offset = 0;
  std::int16_t saved_offset = 0;
  std::uint64_t function = 0;  ///< where the function begins
};

/// The rule at `pc` from the .eh_frame_hdr of the module that it lies in, which has to be mapped
/// with the .eh_frame that it names. No base where the tables say nothing of it, or something that
/// is not understood.
UnwindRule rule_at(std::uint64_t pc, const unsigned char* eh_frame_hdr);

}  // namespace ebb::sites
