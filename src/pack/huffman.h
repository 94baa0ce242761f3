// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ebb::pack {

/// What a decoded code stands for.
enum class CodeKind : std::uint8_t { literal, copy, end, link, invalid };

/// One row of a decoding table. `bits` is how many bits of input to take; for `link` the width of
/// the second table, which begins at row `base`.
struct CodeRow {
  std::uint16_t base = 0;  ///< literal: the symbol; copy: the value before its extra bits
  std::uint8_t bits = 0;
  std::uint8_t extra : 5 = 0;
  CodeKind kind : 3 = CodeKind::invalid;
};
static_assert(sizeof(CodeRow) == 4);

/// Which of deflate's three alphabets a code is for.
enum class Alphabet : std::uint8_t { code_lengths, literals, distances };

/// A decoding table for canonical Huffman codes: the first `root_bits` bits of input, lowest first,
/// find the row, or a link to a second table for longer codes.
class HuffmanTable {
 public:
  /// `lengths[symbol]` is the length of its code, 0 where it has none, at most 15. False where no
  /// set of codes has these lengths; a single code of one bit is allowed to stand alone, and so is
  /// none at all.
  bool build(std::span<const std::uint8_t> lengths, Alphabet alphabet);

  const CodeRow& find(std::uint64_t bits) const {
    const CodeRow& row = rows_[bits & root_mask_];
    if (row.kind != CodeKind::link) return row;
    const std::uint64_t rest = bits >> root_bits_ & ((1U << row.bits) - 1);
    return rows_[row.base + rest];
  }

 private:
  std::vector<CodeRow> rows_;
  unsigned root_bits_ = 0;
  std::uint64_t root_mask_ = 0;
};

}  // namespace ebb::pack
