// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "fl/data/data_set.h"
#include "fl/memory_plan.h"
#include "plan/network.h"

namespace ebb::fl {

/// Parameters of all clients that are looked at together where updates are added up on a card, and
/// what each takes of it meanwhile.
inline constexpr std::uint64_t kParametersAtATime = 1U << 18U;
inline constexpr std::uint64_t kBytesOfAParameter = 28;
/// What a value that may be dropped takes of a card while its mask is made: whole numbers of 64
/// bits for every eight of them, in eight tensors, and the mask in pieces and as a whole.
inline constexpr std::uint64_t kBytesOfAMaskInTheMaking = 11;
/// Of a matrix that projects some parameters of updates, and of what it is made from.
inline constexpr std::uint64_t kProjectionBytes = (1U << 15U) * (64 + 8) * sizeof(double);
/// Of sums that come from a card to the host.
inline constexpr std::uint64_t kSumsOnTheirWayBytes = 8U << 20U;

/// Batches that have room on their way to a card that does not hold the data: the one that it works
/// on, and others, so that it never waits for one that is gathered, nor the host for it.
inline constexpr std::uint32_t kBatchesAhead = 4;

/// How a simulation uses a card.
struct CardUse {
  std::uint32_t clients = 1;        ///< that train side by side
  std::uint32_t room = 1;           ///< clients that would fit
  std::uint32_t evaluated = 1024;   ///< pictures at a time
  bool holds_data = true;           ///< else batches are gathered on the host,
  std::uint32_t ahead = 0;          ///< with room for so many on their way; 0: as they are needed
  std::uint64_t pinned = 0;         ///< what these take of the host
  std::vector<MemoryItem> items{};  ///< what that takes of it
};

/// What a card does besides training, evaluating and adding up, and what it may do.
struct CardWork {
  bool corrects = false;  ///< clients' steps, which takes a model of each
  bool sketches = false;  ///< updates
  bool may_hold_data = true;
  bool may_prefetch = true;  ///< what it does not hold
};

/// What one that wants to train `wanted` clients makes of `available` bytes: all of them side by
/// side, or as few groups of the same size as fit. Code::bad_input, with the number needed, where
/// not even one client fits.
base::Result<CardUse> card_use(const plan::Network& network, std::uint32_t batch,
                               std::uint32_t wanted, const DataSet& data, std::uint64_t available,
                               const CardWork& work = {});

/// Bytes of device memory that each of the clients takes which train side by side on a card:
/// weights, gradients, activations of a batch, the columns of its largest convolution, and its
/// largest mask while it is made.
base::Result<std::uint64_t> side_by_side_bytes(const plan::Network& network, std::uint32_t batch);

/// The memory of one client's step.
base::Result<std::uint64_t> step_bytes(const plan::Network& network, std::uint32_t batch);

}  // namespace ebb::fl
