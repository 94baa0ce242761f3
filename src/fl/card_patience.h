// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fl/card.h"

namespace ebb::fl {

/// Tries again what a card had no room for: with an empty cache, and then while others may leave
/// it. Not thread-safe. The card outlives it.
class CardPatience {
 public:
  static constexpr double kSeconds = 60;

  /// `card`: null where the host trains; then everything is tried once.
  explicit CardPatience(Card* card) : card_(card) {}

  /// Calls `attempt` until it succeeds or fails with another code than Code::out_of_memory; at
  /// first at once, then for `seconds` ever more seldom. `what` names it in lines: "round 3".
  base::Status insist(const std::string& what, const std::function<base::Status()>& attempt,
                      double seconds = kSeconds);

  /// What happened since the last call, one line each.
  std::vector<std::string> lines();

 private:
  Card* const card_;
  std::vector<std::string> lines_;
};

}  // namespace ebb::fl
