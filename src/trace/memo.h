// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/memory_budget.h"
#include "trace/pickle_value.h"

namespace ebb::trace {

/// What a pickle may refer back to, four bytes each, however many: text, frames, stacks and pairs
/// by number; of everything else only what it was. Not thread-safe.
class Memo {
 public:
  enum class Fault : std::uint8_t { none, unknown, not_shared };

  explicit Memo(MemoryBudget& budget) : budget_(budget) {}

  /// The number that MEMOIZE uses next.
  Index next() const { return count_; }

  void put(Index number, const Value& value) {
    std::uint32_t& entry = at(number);
    if (entry == kUnset) ++count_;
    entry = value.kind == ValueKind::text ? code(text, value.first()) : code_of(value);
  }

  /// What was put there. An empty container counts as used from now on.
  Fault get(std::uint64_t number, Value& value) {
    const std::size_t page = number / kPage;
    if (page >= pages_.size() || pages_[page] == nullptr) return Fault::unknown;
    std::uint32_t& entry = (*pages_[page])[number % kPage];
    if (entry >> kKindShift == state) return get_state(entry, value);
    value = Value::of(kKinds[entry >> kKindShift], entry & ((1U << kKindShift) - 1));
    value.element = ValueKind::frame;  // of a stack; without meaning elsewhere
    return Fault::none;
  }

  /// Whether somebody got the container while it was empty: filling it would change that too.
  bool used_while_empty(Index number) {
    return at(number) == kUsedEmptyList || at(number) == kUsedEmptyDict;
  }

 private:
  static constexpr std::size_t kPage = 1 << 14;
  using Page = std::array<std::uint32_t, kPage>;

  static constexpr std::uint32_t kKindShift = 29;
  static constexpr std::uint32_t kUnset = 0;
  enum Kind : std::uint32_t { state = 0, text, frame, stack, pair, broken };
  static constexpr std::array<ValueKind, 8> kKinds = {
      ValueKind::other, ValueKind::text,   ValueKind::frame, ValueKind::list,
      ValueKind::pair,  ValueKind::broken, ValueKind::other, ValueKind::other};
  // Of Kind::state:
  static constexpr std::uint32_t kEmptyList = 1;
  static constexpr std::uint32_t kEmptyDict = 2;
  static constexpr std::uint32_t kUsedEmptyList = 3;
  static constexpr std::uint32_t kUsedEmptyDict = 4;
  static constexpr std::uint32_t kPlain = 5;
  static constexpr std::uint32_t kNotShared = 6;

  static std::uint32_t code(Kind kind, Index index) {
    return index >> kKindShift == 0 ? kind << kKindShift | index : kPlain;
  }
  static std::uint32_t code_of(const Value& value);

  std::uint32_t& at(Index number) {
    const std::size_t page = number / kPage;
    if (page >= pages_.size() || pages_[page] == nullptr) add_page(page);
    return (*pages_[page])[number % kPage];
  }
  void add_page(std::size_t page);
  static Fault get_state(std::uint32_t& entry, Value& value);

  MemoryBudget& budget_;
  std::vector<std::unique_ptr<Page>> pages_;
  Index count_ = 0;
};

}  // namespace ebb::trace
