// SPDX-License-Identifier: Apache-2.0
#include "trace/pickle_writer.h"

#include <bit>
#include <limits>

namespace ebb::trace {
namespace {

// Opcodes of Python's pickletools.
constexpr char kProto = '\x80';
constexpr char kStop = '.';
constexpr char kMark = '(';
constexpr char kEmptyDict = '}';
constexpr char kSetItems = 'u';
constexpr char kEmptyList = ']';
constexpr char kAppends = 'e';
constexpr char kTuple2 = '\x86';
constexpr char kNewTrue = '\x88';
constexpr char kNewFalse = '\x89';
constexpr char kBinInt = 'J';
constexpr char kBinInt1 = 'K';
constexpr char kBinInt2 = 'M';
constexpr char kLong1 = '\x8a';
constexpr char kBinFloat = 'G';
constexpr char kShortBinUnicode = '\x8c';
constexpr char kBinUnicode = 'X';
constexpr char kMemoize = '\x94';
constexpr char kBinGet = 'h';
constexpr char kLongBinGet = 'j';

}  // namespace

PickleWriter::PickleWriter() {
  raw(kProto);
  raw('\x04');
}

void PickleWriter::begin_dict() {
  raw(kEmptyDict);
  raw(kMark);
}
void PickleWriter::end_dict() {
  raw(kSetItems);
}
void PickleWriter::begin_list() {
  raw(kEmptyList);
  raw(kMark);
}
void PickleWriter::end_list() {
  raw(kAppends);
}
void PickleWriter::end_pair() {
  raw(kTuple2);
}

void PickleWriter::little_endian(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
}

void PickleWriter::integer(std::int64_t value) {
  if (value >= 0) {
    natural(static_cast<std::uint64_t>(value));
  } else if (value >= std::numeric_limits<std::int32_t>::min()) {
    raw(kBinInt);
    little_endian(static_cast<std::uint64_t>(value), 4);
  } else {
    raw(kLong1);
    raw('\x08');
    little_endian(static_cast<std::uint64_t>(value), 8);
  }
}

void PickleWriter::natural(std::uint64_t value) {
  if (value <= 0xFF) {
    raw(kBinInt1);
    little_endian(value, 1);
  } else if (value <= 0xFFFF) {
    raw(kBinInt2);
    little_endian(value, 2);
  } else if (value <= 0x7FFFFFFF) {
    raw(kBinInt);
    little_endian(value, 4);
  } else {
    // Two's complement: a set top bit needs one byte more.
    const int bytes = 64 / 8 - std::countl_zero(value) / 8;
    const bool top_bit = (value >> (8 * bytes - 1) & 1) != 0;
    raw(kLong1);
    raw(static_cast<char>(bytes + (top_bit ? 1 : 0)));
    little_endian(value, bytes);
    if (top_bit) raw('\0');
  }
}

void PickleWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  raw(kBinFloat);
  for (int i = 7; i >= 0; --i) {
    out_ += static_cast<char>(bits >> (8 * i) & 0xFF);
  }
}

void PickleWriter::boolean(bool value) {
  raw(value ? kNewTrue : kNewFalse);
}

void PickleWriter::text(std::string_view value) {
  const auto known = memo_.find(std::string(value));
  if (known != memo_.end()) {
    const bool small = known->second <= 0xFF;
    raw(small ? kBinGet : kLongBinGet);
    little_endian(known->second, small ? 1 : 4);
    return;
  }
  const bool small = value.size() <= 0xFF;
  raw(small ? kShortBinUnicode : kBinUnicode);
  little_endian(value.size(), small ? 1 : 4);
  out_ += value;
  raw(kMemoize);
  memo_.emplace(value, static_cast<std::uint32_t>(memo_.size()));
}

std::string PickleWriter::finish() && {
  raw(kStop);
  return std::move(out_);
}

}  // namespace ebb::trace
