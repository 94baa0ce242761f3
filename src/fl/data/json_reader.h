// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "pack/byte_source.h"

namespace ebb::fl {

/// Reads JSON of any size in order, in memory that does not grow with it. The source outlives it.
/// Every failure is Code::bad_input with the byte where something else was expected, or what the
/// source failed with. Not thread-safe.
class JsonReader {
 public:
  static constexpr std::size_t kLongestString = 4096;
  static constexpr std::size_t kLongestNumber = 64;
  /// Of a value that is skipped.
  static constexpr std::size_t kDeepest = 64;

  JsonReader(pack::ByteSource& source, std::string name)
      : source_(source), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// Bytes read so far, of the unpacked file.
  std::uint64_t offset() const { return taken_before_ + at_; }

  /// Takes `mark`, after white space; messages call it `what`.
  base::Status take(char mark, const char* what);
  /// Whether one more item comes before `close`, which is taken otherwise, and so is the comma
  /// between two. `is_first`: the bracket was just taken; false afterwards.
  base::Result<bool> has_next(char close, bool& is_first);
  base::Result<std::string> string(const char* what);
  /// A string and the colon after it; offset() is then where its value begins.
  base::Result<std::string> key();
  base::Result<double> number(const char* what);
  /// Takes any value.
  base::Status skip();
  /// Code::bad_input where anything but white space follows.
  base::Status expect_end();

  /// "NAME: byte N: expected WHAT", or what the source failed with.
  base::Error expected(const char* what) const { return expected(what, offset()); }
  base::Error expected(const char* what, std::uint64_t at) const;

 private:
  static constexpr int kEnd = -1;

  /// The next byte, which stays; kEnd at the end, or where the source failed.
  int peek();
  int peek_after_space();
  base::Status escaped(std::string& text);

  pack::ByteSource& source_;
  const std::string name_;
  std::array<char, 1 << 16> buffer_{};
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t taken_before_ = 0;
  std::optional<base::Error> failed_;
};

}  // namespace ebb::fl
