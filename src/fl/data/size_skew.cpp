// SPDX-License-Identifier: Apache-2.0
#include "fl/data/size_skew.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ebb::fl {
namespace {

/// How many samples of each label a client wants, by the scale of all sizes.
struct Wish {
  double weight = 1;        ///< of its size
  std::vector<double> mix;  ///< share of each label
  std::size_t first = 0;    ///< its most frequent label: one of it is its own in any case

  double of(std::size_t label, double scale) const { return scale * weight * mix[label]; }
  std::uint64_t whole(std::size_t label, double scale) const {
    const auto wanted = static_cast<std::uint64_t>(of(label, scale));
    return std::max<std::uint64_t>(wanted, label == first ? 1 : 0);
  }
};

std::vector<Wish> wishes_of(const Hands& hands, std::span<const std::uint8_t> labels,
                            std::size_t classes, const PartitionOptions& options, Random& random) {
  std::vector<Wish> wishes(hands.size());
  for (std::size_t client = 0; client < hands.size(); ++client) {
    Wish& wish = wishes[client];
    wish.weight = size_weight(options, random);
    wish.mix.resize(classes);
    for (const std::uint32_t sample : hands[client])
      wish.mix[labels[sample]] += 1 / static_cast<double>(hands[client].size());
    wish.first = static_cast<std::size_t>(std::max_element(wish.mix.begin(), wish.mix.end()) -
                                          wish.mix.begin());
  }
  return wishes;
}

bool can_be_met(const std::vector<Wish>& wishes, const Hands& by_label, double scale) {
  for (std::size_t label = 0; label < by_label.size(); ++label) {
    std::uint64_t wanted = 0;
    for (const Wish& wish : wishes)
      wanted += wish.whole(label, scale);
    if (wanted > by_label[label].size()) return false;
  }
  return true;
}

/// The largest scale at which no label is wanted more often than it occurs. At 0 everyone wants one
/// sample, which it had before.
double scale_of(const std::vector<Wish>& wishes, const Hands& by_label, std::size_t samples) {
  const double sum =
      std::accumulate(wishes.begin(), wishes.end(), 0.0,
                      [](double so_far, const Wish& wish) { return so_far + wish.weight; });
  double high = static_cast<double>(samples) / sum;
  if (can_be_met(wishes, by_label, high)) return high;
  double low = 0;
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (can_be_met(wishes, by_label, middle) ? low : high) = middle;
  }
  return low;
}

/// Labels in the order in which `wish` lost most when its numbers were cut to whole ones.
std::vector<std::size_t> by_loss(const Wish& wish, double scale) {
  std::vector<std::size_t> order;
  for (std::size_t label = 0; label < wish.mix.size(); ++label)
    if (wish.mix[label] > 0) order.push_back(label);
  const auto lost = [&](std::size_t label) {
    return wish.of(label, scale) - std::floor(wish.of(label, scale));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return lost(one) > lost(other); });
  return order;
}

}  // namespace

double size_weight(const PartitionOptions& options, Random& random) {
  return options.sizes == SizeSkew::lognormal
             ? random.lognormal(0, options.size_sigma)
             : std::pow(1 - random.uniform(), -1 / options.size_alpha);
}

Hands with_skewed_sizes(const Hands& hands, std::span<const std::uint8_t> labels,
                        const Hands& by_label, const PartitionOptions& options, Random& random) {
  const std::vector<Wish> wishes = wishes_of(hands, labels, by_label.size(), options, random);
  const double scale = scale_of(wishes, by_label, labels.size());
  Hands stock = by_label;
  for (std::vector<std::uint32_t>& samples : stock)
    random.shuffle(std::span(samples));

  Hands dealt(hands.size());
  const auto give = [&](std::size_t client, std::size_t label, std::uint64_t count) {
    for (; count > 0 && !stock[label].empty(); --count) {
      dealt[client].push_back(stock[label].back());
      stock[label].pop_back();
    }
  };
  for (std::size_t client = 0; client < wishes.size(); ++client)
    for (std::size_t label = 0; label < stock.size(); ++label)
      give(client, label, wishes[client].whole(label, scale));
  // What the whole numbers left over goes to those who lost most by them.
  for (std::size_t client = 0; client < wishes.size(); ++client) {
    const auto size = static_cast<std::size_t>(std::lround(scale * wishes[client].weight));
    for (const std::size_t label : by_loss(wishes[client], scale)) {
      if (dealt[client].size() >= size) break;
      give(client, label, 1);
    }
  }
  return dealt;
}

}  // namespace ebb::fl
