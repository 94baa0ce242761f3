// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "base/result.h"
#include "fl/ranks.h"

namespace ebb::fl {

/// How many clients train, and how many pictures are evaluated, at a time on a card. Products of
/// other sizes round differently: there it is part of the arithmetic, as the back end is.
struct CardGroups {
  std::uint32_t clients = 1;
  std::uint32_t pictures = 0;  ///< 0: it does not matter
  /// The round from which on results agree to rounding only with those before, because there was
  /// no room for larger groups.
  std::optional<std::uint32_t> rounding_from{};

  /// Takes half as many clients at a time, from round `round` on.
  void halve(std::uint32_t round);
  /// The same for pictures, of which `fewer` will do.
  void evaluate_fewer(std::size_t fewer, std::uint32_t round);
  void round_differently_from(std::uint32_t round);
};

base::Json to_json(const CardGroups& groups);
/// Nothing where it is none.
std::optional<CardGroups> card_groups_from(const base::Json& json);

/// Makes groups no larger than on the rank that has the least room: the same on all of them.
base::Status agree(CardGroups& groups, Ranks& ranks);

}  // namespace ebb::fl
