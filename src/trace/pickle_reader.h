// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pack/byte_source.h"

namespace ebb::trace {

/// What the rarer opcodes of a pickle do; PickleReader::read says how the others are told.
enum class PickleOp : std::uint8_t {
  empty_tuple,
  set_item,  ///< one key and value
  append,    ///< one item
  tuple1,
  tuple2,
  tuple3,
  tuple,  ///< all since the mark
  none,
  boolean,
  huge_integer,  ///< needs more than 64 bits; its value is not kept
  real,
  long_text,  ///< longer than kLongestText; skipped
  put,        ///< under the number given
  stop,
};

/// Longer texts have no place in a snapshot.
inline constexpr std::size_t kLongestText = 1 << 20;

/// Reads pickles of protocol 2 to 5 opcode by opcode from a closed list: dicts, lists, tuples,
/// numbers, booleans, None and text. Whatever names, calls or builds an object is refused, with the
/// opcode's name and offset. No length that the file gives is believed before the bytes are there.
/// Memory: one buffer of 256 KiB, and texts up to kLongestText. Not thread-safe.
class PickleReader {
 public:
  /// Called with done() and total() of the source, every 256 KiB or so.
  using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

  /// `name` begins the messages. The source must outlive the reader.
  PickleReader(pack::ByteSource& source, std::string name, Progress progress = {});

  /// Checks the head of the file. False where it is not a pickle of protocol 2 to 5.
  bool begin();

  /// Reads opcode by opcode, each told to `handler` by one of these calls, until one returns false:
  ///   get(number), memoize(), mark(), set_items(), appends()
  ///   integer(number, negative)   a negative one as its two's complement
  ///   text(view)                  valid during the call
  ///   empty_dict(), empty_list()
  ///   other(op, number)           the rest; `number` is a boolean, a memo number or a double's
  ///   bits
  /// False where the file has no next opcode or one that is refused: error() says why.
  template <class Handler>
  bool read(Handler&& handler);

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
  struct Integer {
    std::uint64_t number = 0;
    bool negative = false;
  };

  const char* data() const { return buffer_.get(); }
  bool refill();
  bool refuse(unsigned char opcode);
  bool ends_early();
  bool read_rare(unsigned char opcode, PickleOp& op, std::uint64_t& number);
  bool read_text(std::uint64_t length, std::string_view& text);
  bool read_longer(unsigned length, Integer& integer);

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
  /// False where it needs more than 64 bits.
  bool read_long(Integer& integer) {
    const unsigned length = byte();
    if (length > 8) return read_longer(length, integer);
    if (length == 0) return true;
    const unsigned unused = 64 - 8 * length;
    const auto value = static_cast<std::int64_t>(load_little_endian(at_) << unused) >> unused;
    at_ += length;
    integer = {static_cast<std::uint64_t>(value), value < 0};
    return true;
  }

  pack::ByteSource& source_;
  std::string name_;
  Progress progress_;
  base::Error error_;

  /// Followed by zeros, so that a short argument can be read before its presence is checked.
  std::unique_ptr<char[]> buffer_;
  const char* at_;
  const char* end_;
  const char* safe_;  ///< from here on there may be too few bytes for an opcode and its argument
  const char* opcode_;
  std::uint64_t before_ = 0;
  bool source_ended_ = false;
  std::string text_;
};

template <class Handler>
bool PickleReader::read(Handler&& handler) {
  bool more = true;
  while (more) {
    if (at_ >= safe_ && !refill()) return false;
    opcode_ = at_;
    const auto opcode = static_cast<unsigned char>(*at_++);
    switch (opcode) {
      case 'h':  // BINGET
        more = handler.get(byte());
        break;
      case 'j':  // LONG_BINGET
        more = handler.get(little_endian(4));
        break;
      case 0x94:  // MEMOIZE
        more = handler.memoize();
        break;
      case '(':
        more = handler.mark();
        break;
      case '}':
        more = handler.empty_dict();
        break;
      case ']':
        more = handler.empty_list();
        break;
      case 'u':
        more = handler.set_items();
        break;
      case 'e':
        more = handler.appends();
        break;
      case 'K':  // BININT1
        more = handler.integer(byte(), false);
        break;
      case 'M':  // BININT2
        more = handler.integer(little_endian(2), false);
        break;
      case 'J': {  // BININT
        const auto value = static_cast<std::int32_t>(little_endian(4));
        more = handler.integer(static_cast<std::uint64_t>(std::int64_t{value}), value < 0);
        break;
      }
      case 0x8A: {  // LONG1
        Integer integer;
        more = read_long(integer) ? handler.integer(integer.number, integer.negative)
                                  : handler.other(PickleOp::huge_integer, 0);
        break;
      }
      case 0x8C: {  // SHORT_BINUNICODE
        const std::size_t length = byte();
        at_ += length;
        more = handler.text(std::string_view(at_ - length, length));
        break;
      }
      case 'X':     // BINUNICODE
      case 0x8D: {  // BINUNICODE8
        const std::uint64_t length = little_endian(opcode == 'X' ? 4 : 8);
        std::string_view text;
        if (!read_text(length, text)) return false;
        more = length > kLongestText ? handler.other(PickleOp::long_text, 0) : handler.text(text);
        break;
      }
      case 0x95:  // FRAME: a hint for reading ahead
        at_ += 8;
        break;
      default: {
        PickleOp op = PickleOp::stop;
        std::uint64_t number = 0;
        if (!read_rare(opcode, op, number)) return false;
        more = handler.other(op, number);
        break;
      }
    }
  }
  return true;
}

}  // namespace ebb::trace
