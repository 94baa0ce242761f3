// SPDX-License-Identifier: Apache-2.0
// Cards: how full the machine's are, and the caches that processes of the job keep on theirs. The
// first is NVML's word, the second that of a process's own language, each with its own numbers.
#include <algorithm>
#include <utility>

#include "run/supervisor.h"

namespace ebb::run {
namespace {

// At a round's end a reading is new, unless rounds end many times a second.
constexpr double kAtRoundSeconds = 0.1;
// Of the time, waiting for answers about cards that are only for the record.
constexpr double kShareForCards = 0.05;

}  // namespace

void Supervisor::note_missing_cards(double seconds) {
  if (options_.card_options.empty()) return;
  place_.read_cards(seconds, 0);
  const keep::CardsSeen& seen = place_.cards();
  if (!seen.cards.empty()) return;
  const std::string why = seen.trouble.empty() ? "" : " (" + seen.trouble + ")";
  journal_.say({seconds, "card", options_.card_options + ": no GPU was seen" + why, {}});
}

void Supervisor::watch_cards(double seconds) {
  if (place_.cards_read() != cards_recorded_) {
    cards_recorded_ = place_.cards_read();
    for (const fact::CardSample& card : place_.cards().cards)
      journal_.add(record::DeviceSample{std::nullopt, seconds, card});
  }
  cards_.look({.moment = keep::CardPolicy::Moment::any,
               .round = last_round_,
               .ram_percent = place_.percent()},
              place_.cards().cards, options_.cards);
  for (const std::string& line : cards_.lines())
    journal_.say({seconds, "card", line, {}});
}

void Supervisor::ask_cards(Member& member, std::uint64_t round, double seconds) {
  place_.read_cards(seconds, kAtRoundSeconds);
  watch_cards(seconds);
  const std::vector<fact::CardSample>& cards = place_.cards().cards;
  const bool pressed = std::any_of(cards.begin(), cards.end(), [&](const fact::CardSample& card) {
    return keep::is_pressed(card.memory, options_.cards);
  });
  if (!pressed) return member.cards.lasted();
  // The answer to a question that is open will be about this moment.
  if (member.awaits_cards && !member.card_round) member.card_round = round;
  ask_cards_now(member, round, seconds);
}

void Supervisor::sample_cards(Member& member, double seconds) {
  if (seconds + interval() / 2 >= member.next_cards) ask_cards_now(member, std::nullopt, seconds);
}

void Supervisor::ask_cards_now(Member& member, std::optional<std::uint64_t> round, double seconds) {
  if (!member.channel || member.awaits_cards || member.awaits_emptying) return;
  member.card_round = round;
  member.cards_asked = seconds;
  member.awaits_cards = static_cast<bool>(member.channel->send(wire::ReadCards{}));
  if (member.awaits_cards) member.answers.asked();
}

void Supervisor::take(Member& member, const wire::Cards& cards, double seconds) {
  member.awaits_cards = false;
  heard_from(member, seconds);
  // A language that is busy answers late, and its agent does nothing else meanwhile.
  member.next_cards =
      seconds + std::max(interval(), (seconds - member.cards_asked) / kShareForCards);
  for (const fact::CardSample& card : cards.cards)
    journal_.add(record::DeviceSample{member.key(), seconds, card});
  if (!member.card_round) return;
  const bool wants_room = member.cards.look({.moment = keep::CardPolicy::Moment::round_end,
                                             .round = *member.card_round,
                                             .ram_percent = {},
                                             .says_levels = false},
                                            cards.cards, options_.cards);
  for (const std::string& line : member.cards.lines())
    journal_.say({seconds, "card", line, member.key()});
  if (!wants_room) return;
  wire::Clean ask;
  ask.trigger = fact::Trigger::card;
  ask.device_caches = 1;
  ask.pressure = level_ == sense::MemoryLevel::critical ? 1 : 0;
  member.awaits_emptying = member.channel && member.channel->send(ask);
  if (!member.awaits_emptying) return member.cards.left_alone();
  member.answers.asked();
}

void Supervisor::take_emptying(Member& member, const fact::Cleanup& cleanup, double seconds) {
  // A guard of the job's own does the same without being asked.
  if (std::exchange(member.awaits_emptying, false)) {
    heard_from(member, seconds);
    if (cleanup.missed_garbage) {
      member.cards.left_alone();
    } else {
      member.cards.emptied(cleanup.devices, cleanup.seconds);
    }
  }
  const std::vector<std::string> lines = member.cards.lines();
  if (!lines.empty() && !std::exchange(member.is_emptying_told, true)) {
    for (const std::string& line : lines)
      journal_.say({seconds, "card", line, member.key()});
  }
  if (!cleanup.missed_garbage || !cleanup.devices.empty()) count(member, cleanup, seconds);
}

}  // namespace ebb::run
