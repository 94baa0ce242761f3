// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "fl/select/all.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kTiflKey = "system_aware.tifl";
constexpr std::size_t kTiers = 3;
constexpr double kUnknown = -1;

std::size_t tier_of(const Client& client) {
  return std::min<std::size_t>(client.tier, kTiers - 1);
}

class TiFl final : public Selector {
 public:
  TiFl(double credits, double interval) : full_(whole(credits)), interval_(whole(interval)) {
    refill();
  }

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<Ids> members(kTiers);
    for (std::uint32_t id = 0; id < choice.clients.size(); ++id)
      members[tier_of(choice.clients[id])].push_back(id);
    if (rounds_ > 0 && rounds_ % interval_ == 0) adapt(choice.clients, members);
    ++rounds_;
    if (choice.count == 0) return Ids();

    std::vector<double> weights = open_tiers(members);
    if (std::accumulate(weights.begin(), weights.end(), 0.0) <= 0) {
      refill();
      weights = open_tiers(members);
    }
    tier_ = static_cast<std::uint32_t>(choice.random.weighted(weights));
    --credits_[tier_];

    Ids cohort = some_of(members[tier_], choice.count, choice.random);
    // A tier too small for the cohort is helped by the next ones, a faster before a slower.
    for (const int step : {1, -1, 2, -2}) {
      const int other = static_cast<int>(tier_) + step;
      if (other < 0 || other >= static_cast<int>(kTiers)) continue;
      const Ids more = some_of(members[static_cast<std::size_t>(other)],
                               choice.count - cohort.size(), choice.random);
      cohort.insert(cohort.end(), more.begin(), more.end());
    }
    return cohort;
  }

  base::Json state() const override {
    return base::Json::object({{"rounds", std::uint64_t{rounds_}},
                               {"tier", std::uint64_t{tier_}},
                               {"credits", to_json(credits_)},
                               {"weights", to_json(weights_)},
                               {"losses", to_json(losses_)}});
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kTiflKey);
    TiFl read = *this;
    read.rounds_ = reader.whole("rounds");
    read.tier_ = reader.whole("tier");
    read.credits_ = reader.wholes("credits");
    read.weights_ = reader.numbers("weights");
    read.losses_ = reader.numbers("losses");
    reader.require(read.tier_ < kTiers && read.credits_.size() == kTiers &&
                       read.weights_.size() == kTiers && read.losses_.size() == kTiers,
                   "expected three tiers");
    reader.require(std::all_of(read.weights_.begin(), read.weights_.end(),
                               [](double weight) { return weight >= 0; }),
                   "weights are negative");
    if (auto status = reader.finish(); !status) return status;
    *this = read;
    return {};
  }

 private:
  void refill() {
    for (std::size_t tier = 0; tier < kTiers; ++tier)
      credits_[tier] = full_ * static_cast<std::uint32_t>(tier + 1);
  }

  /// The chances of the tiers that have members and credits left; equal where none has a chance.
  std::vector<double> open_tiers(const std::vector<Ids>& members) const {
    std::vector<double> chances(kTiers);
    std::vector<double> equal(kTiers);
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      if (members[tier].empty() || credits_[tier] == 0) continue;
      chances[tier] = weights_[tier];
      equal[tier] = 1;
    }
    return std::accumulate(chances.begin(), chances.end(), 0.0) > 0 ? chances : equal;
  }

  /// ChangeProbs of the paper: where the last tier has not improved, the worse a tier's loss, the
  /// greater its chance; the best has none.
  void adapt(std::span<const Client> clients, const std::vector<Ids>& members) {
    std::vector<double> now(kTiers, kUnknown);
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      double sum = 0;
      double seen = 0;
      for (const std::uint32_t id : members[tier]) {
        if (!clients[id].loss) continue;
        sum += measured(*clients[id].loss);
        ++seen;
      }
      if (seen > 0) now[tier] = sum / seen;
    }
    const bool improved = losses_[tier_] != kUnknown && now[tier_] < losses_[tier_];
    losses_ = now;
    if (improved) return;
    for (std::size_t tier = 0; tier < kTiers; ++tier) {
      const auto better = [&](double loss) {
        return loss != kUnknown && (now[tier] == kUnknown || loss < now[tier]);
      };
      weights_[tier] = static_cast<double>(std::count_if(now.begin(), now.end(), better));
    }
  }

  std::uint32_t full_;
  std::uint32_t interval_;
  std::uint32_t rounds_ = 0;
  std::uint32_t tier_ = 0;  ///< of the last round
  std::vector<std::uint32_t> credits_ = std::vector<std::uint32_t>(kTiers);
  std::vector<double> weights_ = std::vector<double>(kTiers, 1);
  std::vector<double> losses_ = std::vector<double>(kTiers, kUnknown);  ///< when last adapted
};

}  // namespace

Method tifl_method() {
  return {
      kTiflKey,
      "TiFL",
      "Chai et al., HPDC 2020 (arXiv 2001.09249), with losses for its test accuracies",
      "random within one tier of speed a round; tiers that do worse come more often",
      {{"credits", 20, 1, 1e6, "rounds of the slow tier until all are refilled; faster: 2x, 3x"},
       {"interval", 5, 1, 1e6, "rounds between two looks at the tiers' losses"}},
      [](std::span<const double> values) { return std::make_unique<TiFl>(values[0], values[1]); }};
}

}  // namespace ebb::fl::select
