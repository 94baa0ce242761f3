// SPDX-License-Identifier: Apache-2.0
#include "pack/huffman.h"

#include <algorithm>
#include <array>

namespace ebb::pack {
namespace {

constexpr unsigned kLongestCode = 15;

struct Range {
  std::uint16_t base;
  std::uint8_t extra;
};

// RFC 1951, 3.2.5: lengths of symbols 257 … 285, distances of symbols 0 … 29.
constexpr std::array<Range, 29> kLengths = {
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Range, 30> kDistances = {
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
     {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
     {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
     {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

constexpr std::array<unsigned, 3> kRootBits = {7, 11, 9};

CodeRow row_of(std::size_t symbol, Alphabet alphabet) {
  CodeRow row;
  if (alphabet == Alphabet::code_lengths || (alphabet == Alphabet::literals && symbol < 256)) {
    row.kind = CodeKind::literal;
    row.base = static_cast<std::uint16_t>(symbol);
  } else if (alphabet == Alphabet::literals && symbol == 256) {
    row.kind = CodeKind::end;
  } else {
    const bool length = alphabet == Alphabet::literals;
    const std::size_t index = length ? symbol - 257 : symbol;
    if (index >= (length ? kLengths.size() : kDistances.size())) return row;
    const Range range = length ? kLengths[index] : kDistances[index];
    row.kind = CodeKind::copy;
    row.base = range.base;
    row.extra = range.extra & 31U;
  }
  return row;
}

unsigned reversed(unsigned code, unsigned bits) {
  unsigned out = 0;
  for (unsigned i = 0; i < bits; ++i) {
    out |= (code >> i & 1U) << (bits - 1 - i);
  }
  return out;
}

}  // namespace

bool HuffmanTable::build(std::span<const std::uint8_t> lengths, Alphabet alphabet) {
  std::array<unsigned, kLongestCode + 1> count{};
  for (const std::uint8_t length : lengths) {
    ++count[length];
  }
  unsigned longest = kLongestCode;
  while (longest > 0 && count[longest] == 0) {
    --longest;
  }
  int left = 1;  // codes of the length at hand that are still free
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    left = left * 2 - static_cast<int>(count[length]);
    if (left < 0) return false;
  }
  if (left > 0 && longest > 0 && (alphabet == Alphabet::code_lengths || longest != 1)) return false;

  root_bits_ = std::clamp(longest, 1U, kRootBits[static_cast<std::size_t>(alphabet)]);
  root_mask_ = (1U << root_bits_) - 1;
  CodeRow missing;
  missing.bits = 1;
  rows_.assign(std::size_t{1} << root_bits_, missing);

  std::array<unsigned, kLongestCode + 2> next{};
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    next[length + 1] = (next[length] + count[length]) << 1;
  }
  // In order of code, so that the codes of one second table come one after another.
  std::array<std::uint16_t, 320> order{};
  std::array<unsigned, kLongestCode + 2> place{};
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    place[length + 1] = place[length] + count[length];
  }
  unsigned used = 0;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] == 0) continue;
    order[place[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    ++used;
  }

  for (unsigned i = 0; i < used; ++i) {
    const std::size_t symbol = order[i];
    const unsigned length = lengths[symbol];
    const unsigned code = reversed(next[length]++, length);
    CodeRow row = row_of(symbol, alphabet);
    row.bits = static_cast<std::uint8_t>(length);
    std::size_t first = 0;
    unsigned width = root_bits_;
    unsigned at = code;
    if (length > root_bits_) {
      CodeRow& link = rows_[code & root_mask_];
      if (link.kind != CodeKind::link) {
        // Wide enough for all codes with this beginning: they are the next ones in order.
        unsigned bits = length - root_bits_;
        int open = 1 << bits;
        for (unsigned longer = length, j = i; longer <= longest;) {
          unsigned same = 0;
          while (j < used && lengths[order[j]] == longer) {
            ++same;
            ++j;
          }
          open -= static_cast<int>(same);
          if (open <= 0 || longer == longest) break;
          ++longer;
          ++bits;
          open <<= 1;
        }
        link.kind = CodeKind::link;
        link.bits = static_cast<std::uint8_t>(bits);
        link.base = static_cast<std::uint16_t>(rows_.size());
        const std::size_t size = rows_.size() + (std::size_t{1} << bits);
        rows_.resize(size, missing);
      }
      const CodeRow& table = rows_[code & root_mask_];
      first = table.base;
      width = table.bits;
      at = code >> root_bits_;
    }
    const unsigned own = length > root_bits_ ? length - root_bits_ : length;
    for (std::size_t index = at; index < (std::size_t{1} << width);
         index += std::size_t{1} << own) {
      rows_[first + index] = row;
    }
  }
  return true;
}

}  // namespace ebb::pack
