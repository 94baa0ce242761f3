// SPDX-License-Identifier: Apache-2.0
#include "replay/verdict.h"

#include <array>

#include "base/bytes.h"

namespace ebb::replay {
namespace {

constexpr std::array<const char*, kVerdicts> kNames = {
    "capacity",      "fragmentation", "rounding", "oversize", "deferred_frees",
    "private_pools", "self_limit",    "cache",    "leak",     "healthy"};

}  // namespace

const char* name_of(Verdict verdict) {
  return kNames[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (name == kNames[i]) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

std::string headline_of(Verdict verdict, std::uint64_t bytes) {
  const std::string amount = base::bytes_text(bytes);
  switch (verdict) {
    case Verdict::capacity:
      return "What the job keeps alive does not fit: " + amount + " too much";
    case Verdict::fragmentation:
      return amount + " were free, but not in one piece where it was needed";
    case Verdict::rounding:
      return amount + " went into rounding requests up";
    case Verdict::oversize:
      return amount + " went into blocks that max_split_size_mb hands out whole";
    case Verdict::deferred_frees:
      return amount + " were freed, but other streams still used them";
    case Verdict::private_pools:
      return amount + " were free in private pools, where others may not use them";
    case Verdict::self_limit:
      return "The device had room: the job's own limit was " + amount + " too low";
    case Verdict::cache:
      return "empty_cache would give " + amount + " back";
    case Verdict::leak:
      return "Every step keeps " + amount + " more alive than the one before";
    case Verdict::healthy:
      return "Nothing to act on: " + amount + " above what is needed";
  }
  return {};
}

}  // namespace ebb::replay
