// SPDX-License-Identifier: Apache-2.0
#include "fl/aggregate/mean_aggregator.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "fl/in_parts.h"
#include "fl/random.h"

namespace ebb::fl {

std::uint64_t moments_of(Rule rule) {
  switch (rule) {
    case Rule::fedavgm:
      return 1;
    case Rule::fedadam:
    case Rule::fedyogi:
      return 2;
    case Rule::fedavg:
    case Rule::fedprox:
    case Rule::scaffold:
    case Rule::median:
    case Rule::trimmed_mean:
      break;
  }
  return 0;
}

MeanAggregator::MeanAggregator(const Aggregation& options, const AggregatorShape& shape)
    : options_(options) {
  for (std::uint32_t i = 0; i <= shape.staleness; ++i)
    sums_.push_back(std::make_unique<UpdateSum>(shape.parameters, shape.largest_weight));
  if (moments_of(options.rule) >= 1) momentum_.resize(shape.parameters);
  if (moments_of(options.rule) >= 2)
    variance_.assign(shape.parameters, static_cast<float>(options.tau * options.tau));
}

base::Status MeanAggregator::add(const Contribution& contribution, std::span<const float> from,
                                 std::span<const float> to) {
  EBB_CHECK(contribution.late < sums_.size());
  // An update that is d rounds old counts 1/(1 + d) (Xie et al. 2019).
  const double weight = contribution.weight / (1 + contribution.late);
  return sums_[contribution.late]->add(from, to, weight, contribution.factor);
}

base::Status MeanAggregator::add_group(std::span<GroupContribution> contributions,
                                       std::span<const float> from, UpdateGroup& updates) {
  std::vector<UpdateSum::Share> shares(updates.size(), {0, 0});
  const auto is_summed = [&](const GroupContribution& one) {
    // What moved too far, or to what is no number, is fetched: who adds it says which parameter.
    return !one.added && one.contribution.late == 0 &&
           updates.largest_move(one.place) <= UpdateSum::kLargestMove;
  };
  for (const GroupContribution& one : contributions) {
    if (is_summed(one)) shares[one.place] = {one.contribution.weight, one.contribution.factor};
  }
  if (auto added = sums_.front()->add(updates, shares); !added) return added;
  for (GroupContribution& one : contributions)
    one.added = one.added || is_summed(one);
  return Aggregator::add_group(contributions, from, updates);
}

double MeanAggregator::step(std::size_t index, double mean) {
  switch (options_.rule) {
    case Rule::fedavgm: {
      const double moved = options_.momentum * static_cast<double>(momentum_[index]) + mean;
      momentum_[index] = static_cast<float>(moved);
      return options_.server_lr * moved;
    }
    case Rule::fedadam:
    case Rule::fedyogi: {
      const double moved = options_.momentum * static_cast<double>(momentum_[index]) +
                           (1 - options_.momentum) * mean;
      const double square = mean * mean;
      double spread = variance_[index];
      if (options_.rule == Rule::fedadam)
        spread = options_.beta2 * spread + (1 - options_.beta2) * square;
      else if (spread != square)
        spread -= (1 - options_.beta2) * square * (spread > square ? 1 : -1);
      momentum_[index] = static_cast<float>(moved);
      variance_[index] = static_cast<float>(spread);
      return options_.server_lr * moved / (std::sqrt(spread) + options_.tau);
    }
    case Rule::fedavg:
    case Rule::fedprox:
    case Rule::scaffold:
    case Rule::median:
    case Rule::trimmed_mean:
      break;
  }
  return options_.server_lr * mean;
}

bool MeanAggregator::only_scales(const Noise& noise) const {
  return noise.deviation == 0 && moments_of(options_.rule) == 0;
}

void MeanAggregator::move(std::span<float> weights, double divisor, const Noise& noise) {
  const UpdateSum& sum = *sums_.front();
  if (only_scales(noise)) {
    // The same as below, with nothing to decide for each of millions of parameters.
    const double rate = options_.server_lr;
    in_parts(weights.size(), [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        weights[i] =
            static_cast<float>(static_cast<double>(weights[i]) + rate * (sum.sum(i) / divisor));
    });
    return;
  }
  Random random(noise.seed, Purpose::privacy_noise, noise.round);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double total = sum.sum(i);
    if (noise.deviation > 0) total += noise.deviation * random.normal();
    weights[i] = static_cast<float>(static_cast<double>(weights[i]) + step(i, total / divisor));
  }
}

base::Status MeanAggregator::finish_round(std::span<float> weights, Ranks& ranks,
                                          const Noise& noise) {
  UpdateSum& sum = *sums_.front();
  if (auto summed = sum.sum_over(ranks); !summed) return summed;
  if (sum.weight() > 0 || noise.deviation > 0) {
    const double divisor = noise.denominator > 0 ? noise.denominator : sum.weight();
    if (!only_scales(noise) || !sum.move_there(weights, divisor, options_.server_lr)) {
      if (auto brought = sum.bring(); !brought) return brought;
      move(weights, divisor, noise);
    }
  }
  sum.clear();
  std::rotate(sums_.begin(), sums_.begin() + 1, sums_.end());
  // What waits for later rounds is the first rank's: a checkpoint that it writes has all of it.
  for (std::size_t i = 0; i + 1 < sums_.size(); ++i) {
    if (auto summed = sums_[i]->sum_over(ranks); !summed) return summed;
  }
  forget_others(ranks);
  return {};
}

void MeanAggregator::forget_others(const Ranks& ranks) {
  for (std::size_t i = 0; i + 1 < sums_.size() && !ranks.is_first(); ++i)
    sums_[i]->clear();
}

AggregatorState MeanAggregator::state() {
  AggregatorState state;
  // The last one is empty between rounds.
  for (std::size_t i = 0; i + 1 < sums_.size(); ++i)
    state.parts.push_back(std::as_writable_bytes(sums_[i]->raw()));
  if (!momentum_.empty()) state.parts.push_back(std::as_writable_bytes(std::span(momentum_)));
  if (!variance_.empty()) state.parts.push_back(std::as_writable_bytes(std::span(variance_)));
  return state;
}

}  // namespace ebb::fl
