// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/device_change.h"
#include "base/result.h"
#include "fact/card.h"
#include "sense/memory_info.h"

namespace ebb::keep {

/// When something is to be said and done about a card: in percent of its memory, and the bytes of
/// it that are to be left to others (NCCL, cuBLAS, other processes).
struct CardBounds {
  sense::MemoryThresholds percent{90, 97};
  std::uint64_t headroom = 0;
};

/// Code::bad_input for percentages that are out of range or not in order.
base::Status check(const CardBounds& bounds);

/// Whether its cache may be worth emptying, as far as that can be told without knowing the cache.
bool is_pressed(const fact::CardMemory& memory, const CardBounds& bounds);

sense::MemoryLevel level_of(const fact::CardMemory& memory, const sense::MemoryThresholds& percent);

/// Decides when the caches of a process's device allocator are emptied. A card whose cache fills it
/// is normal, and emptying a cache that is filled again in the next round only costs time: at
/// `critical` the caches are emptied at a round's end where one holds much of its card, and not any
/// more once that was in vain. `headroom` is kept free between rounds whatever it costs. After an
/// allocation that failed, a cache that holds much is emptied too. At most once a round in all. Not
/// thread-safe.
class CardPolicy {
 public:
  /// A cache is emptied for this share of the card and more.
  static constexpr double kWorthEmptying = 0.05;
  /// An emptying was in vain if so much of what it returned is taken again within a round.
  static constexpr double kTakenAgain = 0.9;

  enum class Moment : std::uint8_t {
    any,                ///< nothing is emptied
    round_end,          ///< what the round needed is free
    failed_allocation,  ///< somebody needs it now
  };

  struct Look {
    Moment moment = Moment::any;
    std::optional<std::uint64_t> round{};  ///< the one that ends, or is under way
    std::optional<double> ram_percent{};   ///< for the line alone
    bool says_levels = true;               ///< false where somebody else has that line
  };

  /// Compares cards with the bounds, and says what is new in a line or two. True where the caches
  /// are to be emptied now; then emptied() or left_alone() follows.
  bool look(const Look& at, std::span<const fact::CardSample> cards, const CardBounds& bounds);

  /// They were: what this process held before and after, and how long it took.
  void emptied(std::span<const base::DeviceChange> changes, double seconds);
  /// They were not: somebody else was faster, or nobody answered.
  void left_alone() { asked_.reset(); }

  /// A round has ended and no card is pressed: what was given back was not taken again.
  void lasted();

  /// What there is to say since the last call, one line each.
  std::vector<std::string> lines();

 private:
  struct Emptied {
    std::uint64_t left = 0;
    std::uint64_t returned = 0;
  };
  struct Card {
    sense::MemoryLevel level = sense::MemoryLevel::normal;
    std::optional<Emptied> emptied;  ///< after the last round
    bool was_in_vain = false;
  };
  void say_levels(const Look& at, std::span<const fact::CardSample> cards,
                  const CardBounds& bounds);
  void learn_whether_it_lasted(const Look& at, const fact::CardSample& card);
  bool wants_room(Moment moment, const fact::CardSample& card, const CardBounds& bounds) const;

  std::map<std::uint32_t, Card> cards_;
  std::optional<Look> asked_;  ///< the look that wanted caches to be emptied
  bool emptied_in_round_ = false;
  std::optional<std::uint64_t> last_round_;  ///< that ended
  std::vector<std::string> lines_;
};

}  // namespace ebb::keep
