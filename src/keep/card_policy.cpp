// SPDX-License-Identifier: Apache-2.0
#include "keep/card_policy.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::keep {
namespace {

using sense::MemoryLevel;

std::string prefix_of(const std::optional<std::uint64_t>& round) {
  return round ? "round " + std::to_string(*round) + ": " : std::string();
}

}  // namespace

base::Status check(const CardBounds& bounds) {
  if (sense::check(bounds.percent)) return {};
  return base::error(base::Code::bad_input,
                     "thresholds of GPUs: expected 0 < warn <= critical <= 100, got %g and %g",
                     bounds.percent.warn, bounds.percent.critical);
}

MemoryLevel level_of(const fact::CardMemory& memory, const sense::MemoryThresholds& percent) {
  const double used = memory.used_percent();
  if (used >= percent.critical) return MemoryLevel::critical;
  return used >= percent.warn ? MemoryLevel::warn : MemoryLevel::normal;
}

bool is_pressed(const fact::CardMemory& memory, const CardBounds& bounds) {
  return memory.free < bounds.headroom || level_of(memory, bounds.percent) == MemoryLevel::critical;
}

void CardPolicy::say_levels(const Look& at, std::span<const fact::CardSample> cards,
                            const CardBounds& bounds) {
  bool rose = false;
  std::string full;
  for (const fact::CardSample& card : cards) {
    const MemoryLevel level = level_of(card.memory, bounds.percent);
    const MemoryLevel before = std::exchange(cards_[card.index].level, level);
    rose = rose || level > before;
    if (level == MemoryLevel::normal) continue;
    full += full.empty() ? "" : ", ";
    full += base::format_text("GPU %u at %.0f %%", card.index, card.memory.used_percent());
  }
  if (!rose || !at.says_levels) return;
  const std::string ram =
      at.ram_percent ? base::format_text("RAM at %.0f %%, ", *at.ram_percent) : std::string();
  lines_.push_back(prefix_of(at.round) + ram + full);
}

void CardPolicy::learn_whether_it_lasted(const Look& at, const fact::CardSample& card) {
  Card& known = cards_[card.index];
  const auto emptied = std::exchange(known.emptied, {});
  if (!emptied || known.was_in_vain) return;
  const std::uint64_t reserved = card.memory.reserved;
  const std::uint64_t taken = reserved - std::min(reserved, emptied->left);
  known.was_in_vain =
      static_cast<double>(taken) >= kTakenAgain * static_cast<double>(emptied->returned);
  if (known.was_in_vain)
    lines_.push_back(
        prefix_of(at.round) +
        base::format_text("what GPU %u's cache gave back was taken again: it is kept now",
                          card.index));
}

bool CardPolicy::wants_room(Moment moment, const fact::CardSample& card,
                            const CardBounds& bounds) const {
  const fact::CardMemory& memory = card.memory;
  if (memory.cached == 0) return false;
  const bool is_much =
      static_cast<double>(memory.cached) >= kWorthEmptying * static_cast<double>(memory.total);
  if (moment == Moment::failed_allocation) return is_much;
  if (memory.free < bounds.headroom) return true;
  const Card& known = cards_.at(card.index);
  return is_much && known.level == MemoryLevel::critical && !known.was_in_vain;
}

bool CardPolicy::look(const Look& at, std::span<const fact::CardSample> cards,
                      const CardBounds& bounds) {
  const bool ends = at.moment == Moment::round_end;
  // A round may be announced more than once, by several threads say.
  const bool is_new = ends && (!at.round || at.round != last_round_);
  if (is_new) {
    last_round_ = at.round;
    emptied_in_round_ = false;
    for (const fact::CardSample& card : cards)
      learn_whether_it_lasted(at, card);
  }
  say_levels(at, cards, bounds);
  if (at.moment == Moment::any || emptied_in_round_) return false;
  const bool wanted = std::any_of(cards.begin(), cards.end(), [&](const fact::CardSample& card) {
    return wants_room(at.moment, card, bounds);
  });
  if (!wanted) return false;
  emptied_in_round_ = true;
  asked_ = at;
  return true;
}

void CardPolicy::emptied(std::span<const base::DeviceChange> changes, double seconds) {
  const auto asked = std::exchange(asked_, {});
  for (auto& [index, card] : cards_) {
    const auto change = std::find_if(changes.begin(), changes.end(),
                                     [of = index](const auto& c) { return c.device == of; });
    const std::uint64_t returned = change == changes.end() ? 0 : change->returned;
    if (returned == 0) {
      // In pieces of segments that are in use: there is nothing to be had.
      if (card.level == MemoryLevel::critical) card.was_in_vain = true;
      continue;
    }
    // What failed before is about to take it, which says nothing about the end of a round.
    if (asked && asked->moment == Moment::round_end)
      card.emptied = Emptied{change->after, returned};
    lines_.push_back(prefix_of(asked ? asked->round : std::nullopt) +
                     base::format_text("GPU %u's cache gave %s back in %.0f ms", index,
                                       base::bytes_text(returned).c_str(), seconds * 1e3));
  }
}

void CardPolicy::lasted() {
  for (auto& [index, card] : cards_)
    card.emptied.reset();
}

std::vector<std::string> CardPolicy::lines() {
  return std::exchange(lines_, {});
}

}  // namespace ebb::keep
