// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fl/card.h"
#include "keep/card_policy.h"
#include "sense/memory_info.h"

namespace ebb::fl {

/// A card at the end of a round, and what was done about it.
struct CardRound {
  CardMemory memory;           ///< after it
  std::uint64_t returned = 0;  ///< to the card
  double seconds = 0;          ///< that this took
};

/// Watches how full the card that trains is between rounds, and empties its cache where that helps
/// (keep::CardPolicy). Not thread-safe. The card outlives it.
class CardKeeper {
 public:
  /// `card`: null where the host trains; then nothing happens.
  CardKeeper(Card* card, const sense::MemoryThresholds& thresholds, std::uint64_t headroom,
             const base::Clock& clock = base::system_clock());

  /// At the end of round `round`, cleanups included. `ram_percent` is for the line alone.
  std::optional<CardRound> round_done(std::uint32_t round, std::optional<double> ram_percent);

  /// What happened since the last call, one line each.
  std::vector<std::string> lines();

 private:
  Card* const card_;
  const keep::CardBounds bounds_;
  const base::Clock& clock_;
  keep::CardPolicy policy_;
};

}  // namespace ebb::fl
