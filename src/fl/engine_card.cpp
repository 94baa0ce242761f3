// SPDX-License-Identifier: Apache-2.0
// What is different where a card trains: clients in groups, and a memory that others use, too.
#include <algorithm>

#include "base/text.h"
#include "fl/engine.h"

namespace ebb::fl {

base::Status Engine::insist(const std::function<base::Status()>& attempt, double seconds) {
  return patience_.insist(base::format_text("round %u", round_), attempt, seconds);
}

base::Result<Evaluation> Engine::evaluate_on(std::uint32_t slot, const Split& split,
                                             std::span<const std::uint32_t> samples) {
  base::Result<Evaluation> found = base::error(base::Code::internal, "not evaluated");
  const base::Status done = insist([&]() -> base::Status {
    found = resources_.trainer->evaluate(slot, weights_, split, samples);
    return found ? base::Status() : found.error();
  });
  return found;
}

base::Status Engine::train_groups(std::vector<Member>& members,
                                  std::span<const std::uint32_t> mine) {
  double patience = CardPatience::kSeconds;
  while (!mine.empty()) {
    // On the host there is one model at a time, however many train: nothing to be made fewer.
    gate_.allowed(1);
    const auto group = mine.first(std::min<std::size_t>(group_, mine.size()));
    std::size_t added = 0;
    const base::Status done = insist([&] { return train_group(members, group, added); }, patience);
    mine = mine.subspan(added);
    if (done) {
      patience = CardPatience::kSeconds;
      continue;
    }
    if (done.error().code != base::Code::out_of_memory) return done;
    if (group.size() == 1)
      return base::error(base::Code::out_of_memory, "round %u: no room for one client: %s", round_,
                         done.error().message.c_str());
    group_ = static_cast<std::uint32_t>((group.size() + 1) / 2);
    if (!rounding_from_) rounding_from_ = round_;
    // Who has waited for the whole group waits no longer for half of it.
    patience = 0;
    gate_.say(base::format_text(
        "round %u: the card has no room for %zu clients at a time: %u from now on, and results "
        "agree with those of the larger groups to rounding only",
        round_, group.size(), group_));
  }
  return {};
}

base::Status Engine::train_group(std::vector<Member>& members, std::span<const std::uint32_t> group,
                                 std::size_t& added) {
  std::vector<std::vector<std::uint32_t>> orders;
  for (const std::uint32_t place : group)
    orders.push_back(visiting_order(members[place].client));
  std::vector<LocalTask> tasks;
  for (std::size_t i = 0; i < group.size(); ++i)
    tasks.push_back(task_of(members[group[i]].client, orders[i]));
  return resources_.trainer->train_together(
      weights_, tasks,
      [&](std::size_t i, const LocalResult& result, std::span<const float> trained) {
        // A group that failed half-way comes again as a whole, for the sake of its bits.
        if (i < added) return base::Status();
        members[group[i]].result = result;
        base::Status taken = contribute(group[i], members[group[i]], trained);
        if (taken) ++added;
        return taken;
      });
}

}  // namespace ebb::fl
