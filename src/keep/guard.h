// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/fork.h"
#include "base/result.h"
#include "keep/card_policy.h"
#include "keep/cleanup.h"
#include "keep/machine_cards.h"
#include "sense/memory_info.h"

namespace ebb::keep {

struct GuardRequest {
  sense::MemoryThresholds thresholds{};
  std::optional<CardBounds> cards{};  ///< nothing: cards are not looked at
  CardPolicy::Moment moment = CardPolicy::Moment::any;
  std::optional<std::uint64_t> round{};  ///< for the line
};

/// What a check of the thresholds found and did.
struct GuardCheck {
  sense::MemoryLevel level = sense::MemoryLevel::normal;  ///< of the host's memory
  sense::MemoryInfo info;
  CardsSeen cards;                       ///< before anything was done
  std::optional<CleanupReport> cleanup;  ///< at the critical level, or of device caches alone
  std::string change;                    ///< e.g. "decay set to 0 until the pressure ends"
};

using InfoSource = std::function<base::Result<sense::MemoryInfo>()>;
using CardSource = std::function<CardsSeen()>;

/// Reads how full memory is and acts: where the host's is critical it cleans up at once and has the
/// allocator give back whatever is freed, until a later check finds the level normal again; caches
/// of cards it has emptied as CardPolicy says. One line in the log says what is full. Thread-safe.
/// The cleaner outlives it.
class Guard {
 public:
  Guard(
      Cleaner& cleaner, CardSource cards, InfoSource info = [] { return sense::memory_info(); });

  /// Code::bad_input for thresholds that are not in order; else it fails only where the host's
  /// memory cannot be read.
  base::Result<GuardCheck> check(const GuardRequest& request) EBB_EXCLUDES(mutex_);

 private:
  bool look_at_cards(const GuardRequest& request, GuardCheck& check, bool& said)
      EBB_EXCLUDES(mutex_);
  void act_on_host(GuardCheck& check, bool said);
  void empty_caches(GuardCheck& check) EBB_EXCLUDES(mutex_);

  Cleaner& cleaner_;
  const CardSource cards_;
  const InfoSource info_;
  CardPolicy policy_ EBB_GUARDED_BY(mutex_);
  base::ForkMutex mutex_{3};
};

}  // namespace ebb::keep
