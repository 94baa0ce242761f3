// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ebb::fact {

/// An allocator that a library brings for its own use, beside the malloc of its process.
struct PrivateAllocator {
  std::string kind;           ///< "jemalloc", "mimalloc", "tcmalloc"
  std::string library;        ///< the file that carries it: "libarrow.so.2600"
  std::string prefix;         ///< before its usual names: "arrow_", "_rjem_"; often empty
  bool controllable = false;  ///< it has functions that make it give back, and they can be called
  /// As it counts itself, in whole pages where it counts those alone; nothing where it does not.
  std::optional<std::uint64_t> live{};
  std::optional<std::uint64_t> retained{};
  std::uint64_t asked = 0;     ///< how often it was made to give back
  std::uint64_t returned = 0;  ///< rss that went back for that, measured

  bool operator==(const PrivateAllocator&) const = default;

  bool is_same(const PrivateAllocator& other) const {
    return kind == other.kind && library == other.library;
  }
};

/// "libarrow.so.2600 (mimalloc)".
std::string name_of(const PrivateAllocator& allocator);

}  // namespace ebb::fact
