// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ebb::sites {

/// Reads DWARF's numbers and texts forward, and never beyond its bytes; once it has failed,
/// everything is zero. Allocates nothing: it is used inside of malloc too.
class DwarfReader {
 public:
  explicit DwarfReader(std::string_view bytes) : bytes_(bytes) {}
  DwarfReader(const unsigned char* begin, std::size_t size)
      : bytes_(reinterpret_cast<const char*>(begin), size) {}

  bool failed() const { return failed_; }
  void fail() { failed_ = true; }
  bool is_over() const { return failed_ || bytes_.empty(); }
  std::size_t left() const { return bytes_.size(); }
  const unsigned char* at() const { return reinterpret_cast<const unsigned char*>(bytes_.data()); }

  template <class T>
  T fixed() {
    T value{};
    if (failed_ || bytes_.size() < sizeof(T)) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }

  /// LEB128.
  std::uint64_t number() {
    unsigned bits = 0;
    std::uint8_t last = 0;
    return read_number(&bits, &last);
  }
  std::int64_t signed_number() {
    unsigned bits = 0;
    std::uint8_t last = 0;
    std::uint64_t value = read_number(&bits, &last);
    if ((last & 0x40) != 0 && bits < 64) value |= ~std::uint64_t{0} << bits;
    return static_cast<std::int64_t>(value);
  }

  /// An offset into a section, in the 32 or the 64 bit format.
  std::uint64_t offset(bool is_64) {
    return is_64 ? fixed<std::uint64_t>() : fixed<std::uint32_t>();
  }

  /// Up to the next zero.
  std::string_view text() {
    const std::size_t end = bytes_.find('\0');
    if (failed_ || end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view found = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return found;
  }

  /// The next bytes, to be read by themselves.
  DwarfReader part(std::uint64_t bytes) {
    if (failed_ || bytes > bytes_.size()) {
      failed_ = true;
      DwarfReader none{std::string_view()};
      none.fail();
      return none;
    }
    const DwarfReader part(bytes_.substr(0, bytes));
    bytes_.remove_prefix(bytes);
    return part;
  }

 private:
  std::uint64_t read_number(unsigned* bits, std::uint8_t* last) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) != 0) continue;
      *bits = shift + 7;
      *last = byte;
      return value;
    }
    failed_ = true;
    return 0;
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace ebb::sites
