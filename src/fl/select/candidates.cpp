// SPDX-License-Identifier: Apache-2.0
#include "fl/select/candidates.h"

#include <algorithm>

#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class OfCandidates final : public Selector {
 public:
  OfCandidates(std::unique_ptr<Selector> selector, CandidatesDrawn drawn,
               const CandidateLimit& limit)
      : selector_(std::move(selector)), drawn_(drawn), limit_(limit) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto everyone = static_cast<std::uint32_t>(choice.clients.size());
    const std::uint32_t most = std::max(limit_.most, choice.count);
    if (everyone <= most) return selector_->select(choice);
    if (drawn_ == CandidatesDrawn::once) {
      Random random(limit_.seed, Purpose::candidates);
      draw(everyone, most, random);
    } else {
      draw(everyone, most, choice.random);
    }
    const std::vector<Client> clients = known(choice.clients);
    const Choice::Probe probe = [&](std::span<const std::uint32_t> places) {
      return choice.probe(numbers_of(places));
    };
    auto cohort = selector_->select(
        {choice.round, choice.count, clients, choice.deadline, choice.random, probe});
    if (!cohort) return cohort;
    return numbers_of(*cohort);
  }

  void learn(const Outcome& outcome) override {
    if (candidates_.empty()) return selector_->learn(outcome);
    if (drawn_ != CandidatesDrawn::once) return;
    Ids places;
    for (const std::uint32_t id : outcome.took_part) {
      const auto found = std::lower_bound(candidates_.begin(), candidates_.end(), id);
      if (found != candidates_.end() && *found == id)
        places.push_back(static_cast<std::uint32_t>(found - candidates_.begin()));
    }
    selector_->learn({outcome.round, places, known(outcome.clients)});
  }

  bool needs_sketches() const override { return selector_->needs_sketches(); }
  bool needs_labels() const override { return selector_->needs_labels(); }
  base::Json state() const override { return selector_->state(); }
  base::Status restore(const base::Json& state) override { return selector_->restore(state); }

 private:
  void draw(std::uint32_t everyone, std::uint32_t most, Random& random) {
    candidates_ = random.sample(everyone, most);
    std::sort(candidates_.begin(), candidates_.end());
  }

  std::vector<Client> known(std::span<const Client> clients) const {
    std::vector<Client> some;
    some.reserve(candidates_.size());
    for (const std::uint32_t id : candidates_)
      some.push_back(clients[id]);
    return some;
  }

  Ids numbers_of(std::span<const std::uint32_t> places) const {
    Ids ids;
    ids.reserve(places.size());
    for (const std::uint32_t place : places)
      ids.push_back(candidates_[place]);
    return ids;
  }

  const std::unique_ptr<Selector> selector_;
  const CandidatesDrawn drawn_;
  const CandidateLimit limit_;
  Ids candidates_;  ///< of this round; empty where everyone is
};

}  // namespace

std::unique_ptr<Selector> of_candidates(std::unique_ptr<Selector> selector, CandidatesDrawn drawn,
                                        const CandidateLimit& limit) {
  return std::make_unique<OfCandidates>(std::move(selector), drawn, limit);
}

}  // namespace ebb::fl::select
