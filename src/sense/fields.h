// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ebb::sense {

// What the parsers of this folder share. They take the text of a file and the file's name for
// messages; they trust nothing, and fail with Code::bad_input naming file, field and content.

/// `text` fit for a message: in quotes, on one line, unprintable bytes as '?', clipped.
std::string quoted(std::string_view text);

/// The Error for a field that does not hold what it must.
base::Error garbled(std::string_view file, std::string_view field, const char* expected,
                    std::string_view got);

/// The Error for a field that must be there and is not: the file was cut short.
base::Error missing(std::string_view file, std::string_view field);

/// The lines of `text`. The kernel ends every line, so that an open last line means a file that was
/// cut short; that, and an empty file, is an error.
base::Result<std::vector<std::string_view>> lines_of(std::string_view text, std::string_view file);

/// "  1640 kB" in bytes.
base::Result<std::uint64_t> parse_kib(std::string_view value, std::string_view file,
                                      std::string_view field);

/// A file of lines "key number", such as memory.stat. Holds views into the text it was made from.
class KeyedNumbers {
 public:
  static base::Result<KeyedNumbers> parse(std::string_view text, std::string_view file);

  /// The number beside `key`; nothing where this kernel does not tell it.
  std::optional<std::uint64_t> find(std::string_view key) const;

 private:
  std::vector<std::pair<std::string_view, std::uint64_t>> entries_;
};

}  // namespace ebb::sense
