// SPDX-License-Identifier: Apache-2.0
#include "fl/card_groups.h"

#include <algorithm>
#include <limits>

namespace ebb::fl {
namespace {

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// A whole number below `kNever`.
std::optional<std::uint32_t> whole(const base::Json* json) {
  const auto number = json != nullptr ? json->as_unsigned() : std::nullopt;
  if (!number || *number >= kNever) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

void CardGroups::round_differently_from(std::uint32_t round) {
  rounding_from = std::min(rounding_from.value_or(round), round);
}

void CardGroups::halve(std::uint32_t round) {
  clients = clients / 2 + clients % 2;
  round_differently_from(round);
}

void CardGroups::evaluate_fewer(std::size_t fewer, std::uint32_t round) {
  pictures = static_cast<std::uint32_t>(fewer);
  round_differently_from(round);
}

base::Json to_json(const CardGroups& groups) {
  return base::Json::object(
      {{"clients", std::uint64_t{groups.clients}},
       {"pictures", std::uint64_t{groups.pictures}},
       {"rounding_from_round",
        groups.rounding_from ? base::Json(std::uint64_t{*groups.rounding_from}) : base::Json()}});
}

std::optional<CardGroups> card_groups_from(const base::Json& json) {
  const auto clients = whole(json.find("clients"));
  const auto pictures = whole(json.find("pictures"));
  const base::Json* from = json.find("rounding_from_round");
  if (!clients || *clients == 0 || !pictures || from == nullptr) return std::nullopt;
  CardGroups groups{*clients, *pictures};
  groups.rounding_from = whole(from);
  if (!from->is_null() && !groups.rounding_from) return std::nullopt;
  return groups;
}

base::Status agree(CardGroups& groups, Ranks& ranks) {
  if (ranks.size() == 1) return {};
  for (std::uint32_t* size : {&groups.clients, &groups.pictures}) {
    const auto least = least_of(ranks, *size);
    if (!least) return least.error();
    *size = static_cast<std::uint32_t>(*least);
  }
  const auto from = least_of(ranks, groups.rounding_from.value_or(kNever));
  if (!from) return from.error();
  groups.rounding_from.reset();
  if (*from < kNever) groups.rounding_from = static_cast<std::uint32_t>(*from);
  return {};
}

}  // namespace ebb::fl
