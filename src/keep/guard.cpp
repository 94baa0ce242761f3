// SPDX-License-Identifier: Apache-2.0
#include "keep/guard.h"

#include <utility>

#include "base/log.h"

namespace ebb::keep {

Guard::Guard(Cleaner& cleaner, CardSource cards, InfoSource info)
    : cleaner_(cleaner), cards_(std::move(cards)), info_(std::move(info)) {}

base::Result<GuardCheck> Guard::check(const GuardRequest& request) {
  if (request.cards) {
    if (const auto valid = keep::check(*request.cards); !valid) return valid.error();
  }
  base::Result<sense::MemoryInfo> info = info_();
  if (!info) return info.error();
  const base::Result<sense::MemoryLevel> level = sense::level_of(*info, request.thresholds);
  if (!level) return level.error();
  GuardCheck check;
  check.level = *level;
  check.info = *std::move(info);
  bool said = false;
  const bool wants_room = request.cards && look_at_cards(request, check, said);
  act_on_host(check, said);
  if (wants_room) empty_caches(check);
  return check;
}

bool Guard::look_at_cards(const GuardRequest& request, GuardCheck& check, bool& said) {
  check.cards = cards_();
  std::vector<std::string> lines;
  bool wants_room = false;
  {
    base::Lock lock(mutex_);
    wants_room = policy_.look({request.moment, request.round, check.info.fullest_percent},
                              check.cards.cards, *request.cards);
    lines = policy_.lines();
  }
  for (const std::string& line : lines)
    base::log(base::LogLevel::warning, "%s", line.c_str());
  said = !lines.empty();
  return wants_room;
}

void Guard::act_on_host(GuardCheck& check, bool said) {
  switch (check.level) {
    case sense::MemoryLevel::normal:
      check.change = cleaner_.allocator().set_pressure(false);
      break;
    case sense::MemoryLevel::warn:
      if (said) break;
      base::log(base::LogLevel::warning, "memory at %.1f %% of its limit",
                check.info.fullest_percent);
      break;
    case sense::MemoryLevel::critical:
      check.change = cleaner_.allocator().set_pressure(true);
      check.cleanup = cleaner_.clean({.cuda_empty_cache = true});
      base::log(base::LogLevel::warning, "memory at %.1f %% of its limit: %s",
                check.info.fullest_percent, summary_of(*check.cleanup).c_str());
      break;
  }
}

void Guard::empty_caches(GuardCheck& check) {
  // A cleanup of the host's memory has emptied them, too.
  if (!check.cleanup) check.cleanup = cleaner_.clean({.devices_alone = true});
  const fact::Cleanup& done = check.cleanup->measured;
  std::vector<std::string> lines;
  {
    base::Lock lock(mutex_);
    if (check.cleanup->coalesced) {
      policy_.left_alone();
    } else {
      policy_.emptied(done.devices, done.seconds);
    }
    lines = policy_.lines();
  }
  for (const std::string& line : lines)
    base::log(base::LogLevel::info, "%s", line.c_str());
}

}  // namespace ebb::keep
