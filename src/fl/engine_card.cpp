// SPDX-License-Identifier: Apache-2.0
// What is different where a card trains: clients in groups, and a memory that others use, too.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "fl/engine.h"
#include "fl/stopwatch.h"

namespace ebb::fl {

base::Status Engine::insist(const std::function<base::Status()>& attempt, double seconds) {
  return patience_.insist(base::format_text("round %u", round_), attempt, seconds);
}

base::Status Engine::agree_on_groups() {
  if (resources_.card == nullptr) return {};
  if (auto agreed = agree(groups_, *resources_.ranks); !agreed) return agreed;
  if (groups_.pictures > 0) resources_.trainer->evaluate_together(groups_.pictures);
  return {};
}

base::Status Engine::restore_groups(const base::Json* saved) {
  if (resources_.card == nullptr) return {};
  if (saved == nullptr) {
    groups_.round_differently_from(round_);
    gate_.say(base::format_text(
        "round %u: the checkpoint of an earlier Ebb does not say how many clients trained at a "
        "time: %u from now on, and results agree to rounding only",
        round_, groups_.clients));
    return {};
  }
  const auto groups = card_groups_from(*saved);
  if (!groups || groups->clients > config_.per_round)
    return base::error(base::Code::bad_input, "the checkpoint: card: %s, expected groups",
                       saved->text().c_str());
  groups_ = *groups;
  const auto room = least_of(*resources_.ranks, resources_.card_use.room);
  if (!room) return room.error();
  while (groups_.clients > std::max<std::uint64_t>(*room, 1))
    groups_.halve(round_);
  if (groups_.clients < groups->clients)
    gate_.say(base::format_text(
        "round %u: the card has no room for the %u clients at a time of the checkpoint: %u from "
        "now on, and results agree with those of the larger groups to rounding only",
        round_, groups->clients, groups_.clients));
  return agree_on_groups();
}

base::Result<Evaluation> Engine::evaluate_on(std::uint32_t slot, const Split& split,
                                             std::span<const std::uint32_t> samples) {
  base::Result<Evaluation> found = base::error(base::Code::internal, "not evaluated");
  double patience = CardPatience::kSeconds;
  while (true) {
    const base::Status done = insist(
        [&]() -> base::Status {
          found = resources_.trainer->evaluate(slot, weights_, split, samples);
          return found ? base::Status() : found.error();
        },
        patience);
    if (done || done.error().code != base::Code::out_of_memory) return found;
    const std::size_t fewer = resources_.trainer->evaluate_fewer();
    if (fewer == 0) return found;
    groups_.evaluate_fewer(fewer, round_);
    // Who has waited for all of them waits no longer for half of them.
    patience = 0;
    gate_.say(base::format_text(
        "round %u: the card has no room to evaluate with: %zu samples at a time from now on, and "
        "results agree to rounding only",
        round_, fewer));
  }
}

base::Status Engine::train_groups(std::vector<Member>& members,
                                  std::span<const std::uint32_t> mine) {
  std::vector<GroupContribution> left;
  for (const std::uint32_t place : mine)
    left.push_back({{.place = place}, 0, false});
  double patience = CardPatience::kSeconds;
  while (!left.empty()) {
    // On the host there is one model at a time, however many train: nothing to be made fewer.
    gate_.allowed(1);
    const std::size_t size = std::min<std::size_t>(groups_.clients, left.size());
    const auto group = std::span(left).first(size);
    for (std::size_t i = 0; i < size; ++i)
      group[i].place = i;
    const base::Status done = insist([&] { return train_group(members, group); }, patience);
    std::erase_if(left, [&](const GroupContribution& one) {
      return one.added && (!controls_ || members[one.contribution.place].learned);
    });
    if (done) {
      patience = CardPatience::kSeconds;
      continue;
    }
    if (done.error().code != base::Code::out_of_memory) return done;
    const std::uint32_t before = groups_.clients;
    if (before == 1)
      return base::error(base::Code::out_of_memory, "round %u: no room for one client: %s", round_,
                         done.error().message.c_str());
    groups_.halve(round_);
    // Who has waited for the whole group waits no longer for half of it.
    patience = 0;
    gate_.say(base::format_text(
        "round %u: the card has no room for %u clients at a time: %u from now on, and results "
        "agree with those of the larger groups to rounding only",
        round_, before, groups_.clients));
  }
  return {};
}

base::Status Engine::train_group(std::vector<Member>& members,
                                 std::span<GroupContribution> contributions) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const GroupContribution& one : contributions)
    orders.push_back(visiting_order(members[one.contribution.place].client));
  // A group that failed half-way comes again as a whole, for the sake of its bits.
  std::vector<LocalTask> tasks;
  for (std::size_t i = 0; i < contributions.size(); ++i)
    tasks.push_back(task_of(members[contributions[i].contribution.place].client, orders[i]));
  // Groups of one size whoever is missing: what is more is trained and not looked at.
  tasks.resize(groups_.clients, LocalTask(tasks.front()));
  const auto trained = [&](std::span<const LocalResult> results, UpdateGroup& updates) {
    double seconds = 0;
    base::Status done;
    {
      const Stopwatch watch(seconds);
      done = contribute_group(members, contributions, results, updates);
    }
    adding_ns_ += static_cast<std::int64_t>(seconds * 1e9);
    return done;
  };
  return train_with_controls(members, contributions, tasks, trained);
}

base::Status Engine::contribute_group(std::vector<Member>& members,
                                      std::span<GroupContribution> contributions,
                                      std::span<const LocalResult> results, UpdateGroup& updates) {
  for (GroupContribution& one : contributions) {
    if (one.added) continue;
    const std::uint32_t place = one.contribution.place;
    Member& member = members[place];
    member.norm = updates.norm(one.place);
    member.result = results[one.place];
    member.gradient_norm = gradient_norm_of(member);
    member.sketch.clear();
    if (selector_->needs_sketches()) {
      auto sketch = updates.sketch(one.place);
      if (!sketch) return sketch.error();
      member.sketch = std::move(*sketch);
    }
    one.contribution = contribution_of(place, member);
  }
  auto added = aggregator_->add_group(contributions, weights_, updates);
  if (added) return added;
  const auto first = std::find_if(contributions.begin(), contributions.end(),
                                  [](const GroupContribution& one) { return !one.added; });
  EBB_CHECK(first != contributions.end());
  return diverged(members[first->contribution.place], added.error());
}

}  // namespace ebb::fl
