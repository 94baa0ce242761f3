// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/byte_source.h"

namespace ebb::trace {

/// What one opcode of a pickle does, the many encodings of a value taken together.
enum class PickleOp : std::uint8_t {
  mark,
  empty_dict,
  empty_list,
  empty_tuple,
  set_item,   ///< one key and value
  set_items,  ///< all since the mark
  append,
  appends,
  tuple1,
  tuple2,
  tuple3,
  tuple,  ///< all since the mark
  none,
  boolean,
  integer,
  huge_integer,  ///< needs more than 64 bits; its value is not kept
  real,
  text,
  long_text,  ///< longer than kLongestText; skipped
  memoize,    ///< under the next free number
  put,        ///< under the number given
  get,
  stop,
};

/// Longer texts have no place in a snapshot.
inline constexpr std::size_t kLongestText = 1 << 20;

/// One opcode with its argument.
struct PickleToken {
  PickleOp op = PickleOp::stop;
  bool negative = false;     ///< of an integer: `number` is its two's complement
  std::uint64_t number = 0;  ///< an integer, a boolean, a memo number, or the bits of a double
  std::string_view text;     ///< valid until the next token
};

/// Reads pickles of protocol 2 to 5 opcode by opcode from a closed list: dicts, lists, tuples,
/// numbers, booleans, None and text. Whatever names, calls or builds an object is refused, with the
/// opcode's name and offset. No length that the file gives is believed before the bytes are there.
/// Memory: one buffer of 256 KiB, and texts up to kLongestText. Not thread-safe.
class PickleReader {
 public:
  /// Called with done() and total() of the source, every 256 KiB or so.
  using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

  /// `name` begins the messages. The source must outlive the reader.
  PickleReader(ByteSource& source, std::string name, Progress progress = {});

  /// Checks the head of the file. False where it is not a pickle of protocol 2 to 5.
  bool begin();

  /// The next token; false where there is none: error() says why.
  bool next(PickleToken& token);

  /// Reads on to the end of the file, so that its checksum is checked. False on failure.
  bool finish();

  /// Bytes of the (unpacked) file before the opcode read last, and up to now.
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(opcode_ - data()); }
  std::uint64_t consumed() const { return before_ + static_cast<std::uint64_t>(at_ - data()); }

  /// One line with name and offset; bad_input.
  [[gnu::format(printf, 2, 3)]] base::Error error_here(const char* format, ...) const;

  const base::Error& error() const { return error_; }
  const std::string& name() const { return name_; }

 private:
  const char* data() const { return buffer_.data(); }
  bool refill();
  bool refuse(unsigned char opcode);
  bool ends_early();
  bool slow(unsigned char opcode, PickleToken& token);
  bool read_text(std::uint64_t length, PickleToken& token);
  void read_longer(unsigned length, PickleToken& token);

  std::uint8_t byte() { return static_cast<std::uint8_t>(*at_++); }
  /// Eight bytes from `at`, which the padding makes readable everywhere.
  static std::uint64_t load_little_endian(const char* at) {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
  }
  /// 1 to 8 bytes.
  std::uint64_t little_endian(unsigned bytes) {
    const std::uint64_t value = load_little_endian(at_) & ~0ULL >> (64 - 8 * bytes);
    at_ += bytes;
    return value;
  }
  void read_long(PickleToken& token) {
    const unsigned length = byte();
    if (length > 8) return read_longer(length, token);
    token.op = PickleOp::integer;
    token.negative = false;
    token.number = 0;
    if (length == 0) return;
    const unsigned unused = 64 - 8 * length;
    const auto value = static_cast<std::int64_t>(load_little_endian(at_) << unused) >> unused;
    at_ += length;
    token.negative = value < 0;
    token.number = static_cast<std::uint64_t>(value);
  }

  ByteSource& source_;
  std::string name_;
  Progress progress_;
  base::Error error_;

  /// Followed by zeros, so that a short argument can be read before its presence is checked.
  std::vector<char> buffer_;
  const char* at_;
  const char* end_;
  const char* safe_;  ///< from here on there may be too few bytes for an opcode and its argument
  const char* opcode_;
  std::uint64_t before_ = 0;
  bool source_ended_ = false;
  std::string text_;
};

/// Hot: defined here so that the loop around it knows which token it got.
inline bool PickleReader::next(PickleToken& token) {
  while (true) {
    if (at_ >= safe_ && !refill()) return false;
    opcode_ = at_;
    const auto opcode = static_cast<unsigned char>(*at_++);
    switch (opcode) {
      case 'h':  // BINGET
        token.op = PickleOp::get;
        token.number = byte();
        return true;
      case 'j':  // LONG_BINGET
        token.op = PickleOp::get;
        token.number = little_endian(4);
        return true;
      case 0x94:  // MEMOIZE
        token.op = PickleOp::memoize;
        return true;
      case '(':
        token.op = PickleOp::mark;
        return true;
      case '}':
        token.op = PickleOp::empty_dict;
        return true;
      case ']':
        token.op = PickleOp::empty_list;
        return true;
      case 'u':
        token.op = PickleOp::set_items;
        return true;
      case 'e':
        token.op = PickleOp::appends;
        return true;
      case 'K':  // BININT1
        token.op = PickleOp::integer;
        token.negative = false;
        token.number = byte();
        return true;
      case 'M':  // BININT2
        token.op = PickleOp::integer;
        token.negative = false;
        token.number = little_endian(2);
        return true;
      case 'J': {  // BININT
        const auto value = static_cast<std::int32_t>(little_endian(4));
        token.op = PickleOp::integer;
        token.negative = value < 0;
        token.number = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
        return true;
      }
      case 0x8A:  // LONG1
        read_long(token);
        return true;
      case 0x8C: {  // SHORT_BINUNICODE
        const std::size_t length = byte();
        token.op = PickleOp::text;
        token.text = std::string_view(at_, length);
        at_ += length;
        return true;
      }
      case 0x95:  // FRAME: a hint for reading ahead
        at_ += 8;
        continue;
      default:
        return slow(opcode, token);
    }
  }
}

}  // namespace ebb::trace
