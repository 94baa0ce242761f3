// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/result.h"
#include "pack/byte_source.h"

namespace ebb::pack {

/// Bits of a source, the lowest of each byte first. Behind the end come zeros: look at overran()
/// before believing what was read. Not thread-safe.
class BitReader {
 public:
  explicit BitReader(std::unique_ptr<ByteSource> source);

  /// Makes sure of at least `count` bits, at most 56, for peek().
  void need(unsigned count) {
    if (window_.count >= count) return;
    if (static_cast<std::size_t>(end_ - window_.at) >= sizeof(std::uint64_t)) {
      window_.refill();
    } else {
      need_slowly(count);
    }
  }
  std::uint64_t peek() const { return window_.bits; }

  /// At most 56 bits.
  std::uint64_t take(unsigned count) {
    need(count);
    const std::uint64_t value = window_.bits & ((1ULL << count) - 1);
    window_.drop(count);
    return value;
  }

  /// Drops bits up to the next whole byte.
  void align() { window_.drop(window_.count & 7U); }

  /// Whole bytes, after align(); fewer than `most`, none only at the end.
  std::size_t take_bytes(char* into, std::size_t most);

  /// Whether no byte is left.
  bool at_end();
  /// Whether more bits were taken than there are, or reading failed.
  bool overran() const { return window_.count < 8 * phantom_; }

  const ByteSource& source() const { return *source_; }
  /// Whole bytes of the source that were taken.
  std::uint64_t position() const;
  /// Where the source failed.
  const base::Error& error() const { return error_; }
  bool failed() const { return failed_; }

  /// The state, for loops that keep it in registers: bits, and bytes that have not become bits.
  /// The bits above `count` are the next ones or zero: loading them again changes nothing.
  struct Window {
    std::uint64_t bits = 0;
    unsigned count = 0;
    const char* at = nullptr;

    /// Requires: eight bytes at `at`. Gives at least 56 bits.
    void refill() {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      word = __builtin_bswap64(word);
#endif
      bits |= word << count;
      const unsigned bytes = (63 - count) / 8;
      at += bytes;
      count += bytes * 8;
    }
    void drop(unsigned dropped) {
      bits >>= dropped;
      count -= dropped;
    }
  };
  const Window& window() const {
    return window_;
  }
  void set_window(const Window& window) {
    window_ = window;
  }
  /// Where the bytes at hand end; more are fetched where fewer than eight are left.
  const char* bytes_end();

 private:
  bool fetch();
  void need_slowly(unsigned count);

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<char[]> buffer_;
  const char* end_;
  Window window_;
  std::uint64_t before_ = 0;  ///< bytes that were in the buffer before
  unsigned phantom_ = 0;      ///< bytes of the window that stand for what lies behind the end
  bool ended_ = false;
  bool failed_ = false;
  base::Error error_;
};

}  // namespace ebb::pack
