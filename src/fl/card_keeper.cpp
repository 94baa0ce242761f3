// SPDX-License-Identifier: Apache-2.0
#include "fl/card_keeper.h"

#include <algorithm>
#include <array>

namespace ebb::fl {

CardKeeper::CardKeeper(Card* card, const sense::MemoryThresholds& thresholds,
                       std::uint64_t headroom, const base::Clock& clock)
    : card_(card), bounds_{thresholds, headroom}, clock_(clock) {}

std::optional<CardRound> CardKeeper::round_done(std::uint32_t round,
                                                std::optional<double> ram_percent) {
  const auto before = card_ == nullptr ? std::nullopt : card_->read();
  if (!before) return std::nullopt;
  CardRound done{.memory = *before};
  const std::array cards{fact::CardSample{card_->index(), *before}};
  if (!policy_.look({keep::CardPolicy::Moment::round_end, round, ram_percent}, cards, bounds_))
    return done;
  const std::int64_t start = clock_.now_ns();
  card_->empty_cache();
  done.seconds = base::seconds_between(start, clock_.now_ns());
  done.memory = card_->read().value_or(*before);
  const std::array changes{
      base::DeviceChange::between(card_->index(), before->reserved, done.memory.reserved)};
  done.returned = changes.front().returned;
  policy_.emptied(changes, done.seconds);
  return done;
}

std::vector<std::string> CardKeeper::lines() {
  return policy_.lines();
}

}  // namespace ebb::fl
