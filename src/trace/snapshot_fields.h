// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "trace/pickle_value.h"
#include "trace/words.h"

namespace ebb::trace {

/// The items of a dict whose keys mean something here, as seen at one glance.
struct Fields {
  const Value* items = nullptr;  ///< key, value, key, value …
  std::size_t count = 0;         ///< of pairs
  std::uint64_t keys = 0;        ///< a bit for each known key
  std::uint64_t twice = 0;       ///< those that occur again

  Fields(const Value* first, std::size_t pairs) : items(first), count(pairs) {
    for (std::size_t i = 0; i < count; ++i) {
      const Value& key = items[2 * i];
      if (key.kind != ValueKind::text || key.number >= kKeys) continue;
      const std::uint64_t bit = 1ULL << key.number;
      twice |= keys & bit;
      keys |= bit;
    }
  }

  bool has(Word key) const { return (keys >> static_cast<unsigned>(key) & 1) != 0; }

  /// Null where the key is missing.
  const Value* find(Word key) const {
    if (!has(key)) return nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const Value& name = items[2 * i];
      if (name.kind == ValueKind::text && name.number == static_cast<std::uint64_t>(key)) {
        return &items[2 * i + 1];
      }
    }
    return nullptr;
  }
};

inline bool is_word(const Value& value, Word word) {
  return value.kind == ValueKind::text && value.number == static_cast<std::uint64_t>(word);
}

/// Sizes, times and the like: integers of 63 bits without a sign.
inline bool is_size(const Value& value) {
  return value.kind == ValueKind::integer && !value.negative && value.number >> 63 == 0;
}

/// Integers of 64 bits with a sign.
inline bool is_signed(const Value& value) {
  return value.kind == ValueKind::integer && (value.negative || value.number >> 63 == 0);
}

inline bool is_small_int(const Value& value) {
  const auto number = static_cast<std::int64_t>(value.number);
  return is_signed(value) && number >= std::numeric_limits<int>::min() &&
         number <= std::numeric_limits<int>::max();
}

/// A list of frames; an empty list and None are no stack.
inline bool is_stack(const Value& value) {
  return value.is_list_of(ValueKind::frame) || value.is_empty_list() ||
         value.kind == ValueKind::other;
}

inline Index stack_of(const Value& value) {
  return value.is_list_of(ValueKind::frame) ? value.first() : kNone;
}

}  // namespace ebb::trace
