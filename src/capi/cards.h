// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fact/card.h"
#include "keep/machine_cards.h"

namespace ebb::capi {

/// The cards that this process holds memory of, by CUDA's numbers, as the reclaimers of
/// Stage::device_reading tell; where none tells, those of the machine by NVML's. Thread-safe.
keep::CardsSeen cards_here();

/// From such a reclaimer. What several say of one card is added up. False outside of cards_here().
bool tell_card(const fact::CardSample& card);

}  // namespace ebb::capi
