// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/reclaimer.h"
#include "fl/card.h"

namespace ebb::fl {

/// What is cached of a card's memory, for cleanups that ask for device caches. The card outlives
/// it.
class CardCache final : public base::Reclaimer {
 public:
  explicit CardCache(Card& card) : card_(card) {}

  base::Reclaimed reclaim() override;

 private:
  Card& card_;
};

}  // namespace ebb::fl
