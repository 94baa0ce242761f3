// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replay/tune/outlook.h"

namespace ebb::replay {

/// The smallest cards on which a job goes on, in bytes that PyTorch may take. More memory does not
/// always serve more requests: what is given here was replayed in every future, and so were all
/// larger sizes that were tried.
struct SmallestCard {
  std::uint64_t without_retries = 0;  ///< every request is served at once
  std::uint64_t with_retries = 0;  ///< every request is served, some after the cache was given up
  std::uint64_t retries = 0;       ///< there, in the future with most of them
  std::uint64_t steps = 0;         ///< of that future
  /// By which their driver calls take longer than on a card without a limit, in the same future.
  /// The device is idle meanwhile, and nobody knows for how long: it costs this at least.
  double seconds = 0;
  std::uint64_t futures = 0;
  std::uint64_t sizes_tried = 0;  ///< in one future at least
};

/// Searches for them in steps of 2 MiB, in all futures of one of the jobs. Nothing where no card
/// that there is serves every request at once. Requires: settings that the release accepts.
std::optional<SmallestCard> smallest_card(const Outlook& outlook, std::size_t job,
                                          const std::string& conf);

}  // namespace ebb::replay
