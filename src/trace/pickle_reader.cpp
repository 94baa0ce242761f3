// SPDX-License-Identifier: Apache-2.0
#include "trace/pickle_reader.h"

#include <algorithm>
#include <array>
#include <cstdarg>

#include "base/text.h"

namespace ebb::trace {
namespace {

constexpr std::size_t kPickleBuffer = 256 << 10;
/// The longest opcode with an argument that is not checked piece by piece: a text of 255 bytes, or
/// an integer of as many.
constexpr std::ptrdiff_t kLongestOpcode = 2 + 255;
constexpr std::size_t kPadding = 512;
constexpr std::string_view kSqliteHead("SQLite format 3\0", 16);

struct Refused {
  unsigned char opcode;
  const char* name;
};

/// Opcodes that import, call, build or fetch something.
constexpr std::array<Refused, 16> kObjects = {{{'c', "GLOBAL"},
                                               {0x93, "STACK_GLOBAL"},
                                               {'R', "REDUCE"},
                                               {'b', "BUILD"},
                                               {'i', "INST"},
                                               {'o', "OBJ"},
                                               {0x81, "NEWOBJ"},
                                               {0x92, "NEWOBJ_EX"},
                                               {'P', "PERSID"},
                                               {'Q', "BINPERSID"},
                                               {0x82, "EXT1"},
                                               {0x83, "EXT2"},
                                               {0x84, "EXT4"},
                                               {0x96, "BYTEARRAY8"},
                                               {0x97, "NEXT_BUFFER"},
                                               {0x98, "READONLY_BUFFER"}}};

/// The other opcodes of pickle that no writer of snapshots uses.
constexpr std::array<Refused, 23> kUnused = {{{'I', "INT"},        {'L', "LONG"},
                                              {'F', "FLOAT"},      {'S', "STRING"},
                                              {'T', "BINSTRING"},  {'U', "SHORT_BINSTRING"},
                                              {'B', "BINBYTES"},   {'C', "SHORT_BINBYTES"},
                                              {0x8E, "BINBYTES8"}, {'V', "UNICODE"},
                                              {'l', "LIST"},       {'d', "DICT"},
                                              {'p', "PUT"},        {'g', "GET"},
                                              {'0', "POP"},        {'1', "POP_MARK"},
                                              {'2', "DUP"},        {0x8B, "LONG4"},
                                              {0x8F, "EMPTY_SET"}, {0x90, "ADDITEMS"},
                                              {0x91, "FROZENSET"}, {0x80, "PROTO"},
                                              {0x95, "FRAME"}}};

template <std::size_t N>
const char* name_in(const std::array<Refused, N>& list, unsigned char opcode) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Refused& r) { return r.opcode == opcode; });
  return found == list.end() ? nullptr : found->name;
}

}  // namespace

PickleReader::PickleReader(pack::ByteSource& source, std::string name, Progress progress)
    : source_(source),
      name_(std::move(name)),
      progress_(std::move(progress)),
      buffer_(std::make_unique_for_overwrite<char[]>(kPickleBuffer + kPadding)),
      at_(buffer_.get()),
      end_(at_),
      safe_(at_),
      opcode_(at_) {}

base::Error PickleReader::error_here(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  const std::string what = base::format_text_v(format, arguments);
  va_end(arguments);
  return base::error(base::Code::bad_input, "%s: byte %llu: %s", name_.c_str(),
                     static_cast<unsigned long long>(offset()), what.c_str());
}

bool PickleReader::ends_early() {
  at_ = opcode_ = std::min(at_, end_);
  error_ = error_here("the file ends too early, in the middle of the pickle");
  return false;
}

/// Makes room for the next opcode. False at the end of the file and where reading failed.
bool PickleReader::refill() {
  if (source_ended_) return at_ < end_ || ends_early();
  before_ += static_cast<std::uint64_t>(at_ - data());
  auto have = static_cast<std::size_t>(end_ - at_);
  char* const start = buffer_.get();
  std::memmove(start, at_, have);
  at_ = opcode_ = start;
  while (have < kPickleBuffer && !source_ended_) {
    auto got = source_.read(start + have, kPickleBuffer - have);
    if (!got) {
      error_ = std::move(got).error();
      return false;
    }
    have += *got;
    source_ended_ = *got == 0;
  }
  std::memset(start + have, 0, kPadding);
  end_ = start + have;
  safe_ = source_ended_ ? end_ : end_ - kLongestOpcode;
  if (progress_) progress_(source_.done(), source_.total());
  return at_ < end_ || ends_early();
}

bool PickleReader::begin() {
  if (!refill()) {
    if (consumed() == 0 && source_ended_) {
      error_ =
          base::error(base::Code::bad_input, "%s: is empty, expected a snapshot", name_.c_str());
    }
    return false;
  }
  const auto first = static_cast<unsigned char>(at_[0]);
  const unsigned version = static_cast<unsigned char>(at_[1]);
  if (first == 0x80 && version >= 2 && version <= 5) {
    at_ += 2;
    return true;
  }
  if (first == 0x80) {
    error_ = error_here("pickle protocol %u, expected 2 to 5", version);
  } else if (first == '(' || first == ']' || first == '}') {
    error_ = error_here(
        "not a pickle of protocol 2 to 5 (is it one of protocol 0 or 1?); write it with "
        "pickle.dump "
        "and its default protocol");
  } else if (std::string_view(at_, kSqliteHead.size()) == kSqliteHead) {
    error_ = error_here(
        "an SQLite database (torch.cuda.memory._dump_snapshot_sqlite?), expected a pickle, as "
        "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes it");
  } else if (std::string_view(at_, 4) == std::string_view("PK\x03\x04", 4)) {
    error_ = error_here(
        "a zip archive (torch.save?), expected what torch.cuda.memory._dump_snapshot writes");
  } else {
    error_ = error_here("not a pickle, expected what torch.cuda.memory._dump_snapshot writes");
  }
  return false;
}

bool PickleReader::finish() {
  std::vector<char> rest(64 << 10);
  while (!source_ended_) {
    auto got = source_.read(rest.data(), rest.size());
    if (!got) {
      error_ = std::move(got).error();
      return false;
    }
    source_ended_ = *got == 0;
  }
  if (progress_) progress_(source_.done(), source_.total());
  return true;
}

bool PickleReader::refuse(unsigned char opcode) {
  if (const char* name = name_in(kObjects, opcode)) {
    error_ = error_here("%s names an object; a snapshot holds only dicts, lists, numbers and text",
                        name);
  } else if (const char* unused = name_in(kUnused, opcode)) {
    error_ = error_here("%s has no place in a snapshot of pickle protocol 2 to 5", unused);
  } else {
    error_ = error_here("0x%02x is no opcode of pickle: the file is damaged", opcode);
  }
  return false;
}

bool PickleReader::read_longer(unsigned length, Integer& integer) {
  const char* const bytes = at_;
  at_ += length;
  const bool negative = (bytes[length - 1] & 0x80) != 0;
  integer = {load_little_endian(bytes), negative};
  // 64 bits hold it if the bytes above only repeat the sign.
  const char sign = negative ? '\xff' : '\0';
  return (!negative || integer.number >> 63 != 0) &&
         std::all_of(bytes + 8, bytes + length, [&](char c) { return c == sign; });
}

/// A text longer than kLongestText is skipped.
bool PickleReader::read_text(std::uint64_t length, std::string_view& text) {
  if (at_ > end_) return ends_early();
  if (length <= static_cast<std::uint64_t>(end_ - at_)) {
    text = std::string_view(at_, static_cast<std::size_t>(length));
    at_ += length;
    return true;
  }
  const bool keep = length <= kLongestText;
  text_.clear();
  while (true) {
    const std::uint64_t here = std::min(length, static_cast<std::uint64_t>(end_ - at_));
    if (keep) text_.append(at_, static_cast<std::size_t>(here));
    at_ += here;
    length -= here;
    if (length == 0) break;
    if (!refill()) return false;
  }
  text = text_;
  return true;
}

bool PickleReader::read_rare(unsigned char opcode, PickleOp& op, std::uint64_t& number) {
  switch (opcode) {
    case '.':
      op = PickleOp::stop;
      return true;
    case ')':
      op = PickleOp::empty_tuple;
      return true;
    case 's':
      op = PickleOp::set_item;
      return true;
    case 'a':
      op = PickleOp::append;
      return true;
    case 0x85:
      op = PickleOp::tuple1;
      return true;
    case 0x86:
      op = PickleOp::tuple2;
      return true;
    case 0x87:
      op = PickleOp::tuple3;
      return true;
    case 't':
      op = PickleOp::tuple;
      return true;
    case 'N':
      op = PickleOp::none;
      return true;
    case 0x88:
    case 0x89:
      op = PickleOp::boolean;
      number = opcode == 0x88 ? 1 : 0;
      return true;
    case 'G':  // big-endian, the only one
      op = PickleOp::real;
      for (int i = 0; i < 8; ++i) {
        number = number << 8 | byte();
      }
      return true;
    case 'q':
      op = PickleOp::put;
      number = byte();
      return true;
    case 'r':
      op = PickleOp::put;
      number = little_endian(4);
      return true;
    default:
      return refuse(opcode);
  }
}

}  // namespace ebb::trace
