// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Pickles by hand, value by value, for files that no pickler writes.
namespace ebb::trace::pickled {

std::string text(std::string_view value);
std::string number(std::int64_t value);
std::string pair(std::int64_t first, std::int64_t second);
std::string list(const std::vector<std::string>& items);
std::string dict(const std::vector<std::pair<std::string, std::string>>& items);

/// A block of a segment, requested as large as it is.
std::string block(std::uint64_t address, std::uint64_t size, std::string_view state = "inactive");

/// A segment with these blocks.
std::string segment(std::uint64_t address, std::uint64_t size,
                    const std::vector<std::string>& blocks);

/// An event of the default stream.
std::string event(std::string_view action, std::uint64_t address, std::uint64_t size);

/// A whole snapshot with one device.
std::string snapshot(const std::vector<std::string>& segments,
                     const std::vector<std::string>& events);

/// `value` as a file of protocol 4.
std::string file(std::string_view value);

/// Bytes with zeros in them, out of a literal.
template <std::size_t N>
std::string bytes(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

}  // namespace ebb::trace::pickled
