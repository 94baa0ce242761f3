// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fl/card.h"
#include "sense/memory_info.h"

namespace ebb::fl {

/// A card at the end of a round, and what was done about it.
struct CardRound {
  CardMemory memory;           ///< after it
  std::uint64_t returned = 0;  ///< to the card
  double seconds = 0;          ///< that this took
};

/// Watches how full the card is between rounds. A card whose cache fills it is normal, and emptying
/// a cache that is filled again in the next round only costs time: at `critical` the cache is
/// emptied where it holds much of the card, and not any more once that was in vain. `headroom` is
/// kept free between rounds whatever it costs. Not thread-safe. The card outlives it.
class CardKeeper {
 public:
  /// The cache is emptied for this share of the card and more.
  static constexpr double kWorthEmptying = 0.05;
  /// An emptying was in vain if so much of what it returned is taken again within a round.
  static constexpr double kTakenAgain = 0.9;

  /// `card`: null where the host trains; then nothing happens.
  CardKeeper(Card* card, const sense::MemoryThresholds& thresholds, std::uint64_t headroom,
             const base::Clock& clock = base::system_clock());

  /// At the end of round `round`, cleanups included. `ram_percent` is for the line alone.
  std::optional<CardRound> round_done(std::uint32_t round, std::optional<double> ram_percent);

  /// What happened since the last call, one line each.
  std::vector<std::string> lines();

 private:
  struct Emptied {
    std::uint64_t left = 0;
    std::uint64_t returned = 0;
  };
  sense::MemoryLevel level_of(const CardMemory& memory) const;
  void learn_whether_it_lasted(std::uint32_t round, const CardMemory& memory);
  bool wants_room(const CardMemory& memory) const;

  Card* const card_;
  const sense::MemoryThresholds thresholds_;
  const std::uint64_t headroom_;
  const base::Clock& clock_;
  sense::MemoryLevel level_ = sense::MemoryLevel::normal;
  std::optional<Emptied> emptied_;  ///< after the last round
  bool was_in_vain_ = false;
  std::vector<std::string> lines_;
};

}  // namespace ebb::fl
