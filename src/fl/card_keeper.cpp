// SPDX-License-Identifier: Apache-2.0
#include "fl/card_keeper.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::fl {

CardKeeper::CardKeeper(Card* card, const sense::MemoryThresholds& thresholds,
                       std::uint64_t headroom, const base::Clock& clock)
    : card_(card), thresholds_(thresholds), headroom_(headroom), clock_(clock) {}

sense::MemoryLevel CardKeeper::level_of(const CardMemory& memory) const {
  const double percent = memory.used_percent();
  if (percent >= thresholds_.critical) return sense::MemoryLevel::critical;
  return percent >= thresholds_.warn ? sense::MemoryLevel::warn : sense::MemoryLevel::normal;
}

void CardKeeper::learn_whether_it_lasted(std::uint32_t round, const CardMemory& memory) {
  const auto emptied = std::exchange(emptied_, {});
  if (!emptied || was_in_vain_) return;
  const std::uint64_t taken = memory.reserved - std::min(memory.reserved, emptied->left);
  was_in_vain_ = static_cast<double>(taken) >= kTakenAgain * static_cast<double>(emptied->returned);
  if (was_in_vain_)
    lines_.push_back(
        base::format_text("round %u: what %s's cache gave back was taken again: it is kept now",
                          round, card_->name().c_str()));
}

bool CardKeeper::wants_room(const CardMemory& memory) const {
  if (memory.cached == 0) return false;
  if (memory.free < headroom_) return true;
  return level_ == sense::MemoryLevel::critical && !was_in_vain_ &&
         static_cast<double>(memory.cached) >= kWorthEmptying * static_cast<double>(memory.total);
}

std::optional<CardRound> CardKeeper::round_done(std::uint32_t round,
                                                std::optional<double> ram_percent) {
  const auto before = card_ == nullptr ? std::nullopt : card_->read();
  if (!before) return std::nullopt;
  learn_whether_it_lasted(round, *before);
  const sense::MemoryLevel level = level_of(*before);
  if (level > level_) {
    const std::string ram =
        ram_percent ? base::format_text("RAM at %.0f %%, ", *ram_percent) : std::string();
    lines_.push_back(base::format_text("round %u: %s%s at %.0f %%", round, ram.c_str(),
                                       card_->name().c_str(), before->used_percent()));
  }
  level_ = level;
  CardRound done{.memory = *before};
  if (!wants_room(*before)) return done;
  const std::int64_t start = clock_.now_ns();
  card_->empty_cache();
  done.seconds = base::seconds_between(start, clock_.now_ns());
  done.memory = card_->read().value_or(*before);
  done.returned = before->reserved - std::min(before->reserved, done.memory.reserved);
  emptied_ = Emptied{done.memory.reserved, done.returned};
  lines_.push_back(base::format_text("round %u: %s's cache gave %s back in %.0f ms", round,
                                     card_->name().c_str(), base::bytes_text(done.returned).c_str(),
                                     done.seconds * 1e3));
  return done;
}

std::vector<std::string> CardKeeper::lines() {
  return std::exchange(lines_, {});
}

}  // namespace ebb::fl
