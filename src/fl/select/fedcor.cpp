// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fl/select/all.h"
#include "fl/select/loss_process.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kFedcorKey = "ml.fedcor";
/// Loss changes that the covariance is made of, which is also its rank: the paper's embeddings have
/// 15 dimensions as well.
constexpr std::size_t kRank = 15;

class FedCor final : public Selector {
 public:
  FedCor(double warm_up, double interval, double annealing)
      : warm_up_(whole(warm_up)), interval_(whole(interval)), annealing_(annealing) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto everyone = static_cast<std::uint32_t>(choice.clients.size());
    if (auto status = same_clients(picks_.size(), everyone); !status) return status.error();
    picks_.resize(everyone);
    const bool samples_now = is_random(rounds_);
    if (samples_now || !before_.empty()) {
      Ids all(everyone);
      std::iota(all.begin(), all.end(), 0U);
      auto losses = fresh_losses(choice, all);
      if (!losses) return losses.error();
      remember(*losses);
      before_ = samples_now ? *std::move(losses) : std::vector<double>();
    }
    if (samples_now && rounds_ >= warm_up_) picks_.assign(everyone, 0);
    ++rounds_;
    if (samples_now) return choice.random.sample(everyone, choice.count);

    LossProcess process(changes_, choice.clients);
    const std::vector<bool> silent = silent_ones(choice);
    Ids left = choice.random.sample(everyone, everyone);
    Ids cohort;
    while (cohort.size() < choice.count) {
      std::vector<double> benefits;
      for (const std::uint32_t id : left)
        benefits.push_back(silent[id] ? -std::numeric_limits<double>::infinity()
                                      : process.benefit(id) * std::pow(annealing_, picks_[id]));
      const auto best = std::max_element(benefits.begin(), benefits.end()) - benefits.begin();
      cohort.push_back(left[static_cast<std::size_t>(best)]);
      left.erase(left.begin() + best);
      process.condition_on(cohort.back());
    }
    for (const std::uint32_t id : cohort)
      ++picks_[id];
    return cohort;
  }

  base::Json state() const override {
    base::Json::Array changes;
    for (const std::vector<double>& change : changes_)
      changes.push_back(to_json(change));
    return base::Json::object({{"rounds", std::uint64_t{rounds_}},
                               {"picks", to_json(picks_)},
                               {"before", to_json(before_)},
                               {"changes", std::move(changes)}});
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kFedcorKey);
    FedCor read = *this;
    read.rounds_ = reader.whole("rounds");
    read.picks_ = reader.wholes("picks");
    read.before_ = reader.numbers("before");
    read.changes_.clear();
    const base::Json changes = reader.value("changes");
    const base::Json::Array none;
    const base::Json::Array* lists = changes.as_array();
    reader.require(lists != nullptr && lists->size() <= kRank, "changes is not a short list");
    for (const base::Json& list : lists != nullptr ? *lists : none) {
      const base::Json wrapped = base::Json::object({{"changes", list}});
      StateReader row(wrapped, kFedcorKey);
      read.changes_.push_back(row.numbers("changes"));
      if (auto status = row.finish(); !status) return status;
      reader.require(read.changes_.back().size() == read.picks_.size(),
                     "changes are of another number of clients");
    }
    reader.require(read.before_.empty() || read.before_.size() == read.picks_.size(),
                   "before is of another number of clients");
    reader.require(read.rounds_ == 0 || read.before_.empty() != is_random(read.rounds_ - 1),
                   "before does not go with rounds");
    reader.require(read.rounds_ < 2 || !read.changes_.empty(), "changes are missing");
    if (auto status = reader.finish(); !status) return status;
    *this = std::move(read);
    return {};
  }

 private:
  /// Whether this round's cohort is random, so that loss changes around it tell the covariance.
  bool is_random(std::uint32_t round) const {
    return round < warm_up_ || (round - warm_up_) % interval_ == interval_ - 1;
  }

  void remember(const std::vector<double>& losses) {
    if (before_.empty()) return;
    std::vector<double> change = losses;
    for (std::size_t id = 0; id < change.size(); ++id)
      change[id] -= before_[id];
    changes_.push_back(std::move(change));
    if (changes_.size() > kRank) changes_.erase(changes_.begin());
  }

  std::uint32_t warm_up_;
  std::uint32_t interval_;
  double annealing_;
  std::uint32_t rounds_ = 0;
  std::vector<std::uint32_t> picks_;          ///< of each client, since the covariance was learned
  std::vector<double> before_;                ///< losses before the last round, if it was random
  std::vector<std::vector<double>> changes_;  ///< of every client's loss, over random rounds
};

}  // namespace

Method fedcor_method() {
  return {kFedcorKey,
          "FedCor",
          "Tang et al., CVPR 2022 (arXiv 2103.13822)",
          "those whose training lowers the losses of all most, by how losses move together",
          {{"warm_up", 15, 2, 1e6, "random rounds at first, with everyone's loss measured"},
           {"interval", 10, 2, 1e6, "rounds until one of them is random and measured again"},
           {"annealing", 0.95, 0.01, 1, "factor on the benefit of a client for each pick"}},
          [](std::span<const double> values) {
            return std::make_unique<FedCor>(values[0], values[1], values[2]);
          },
          CandidatesDrawn::once};
}

}  // namespace ebb::fl::select
