// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class FedCs final : public Selector {
 public:
  FedCs(double pool, double upload) : pool_(pool), upload_(upload) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    const auto everyone = static_cast<std::uint32_t>(choice.clients.size());
    const auto asked =
        std::min<std::size_t>(everyone, static_cast<std::size_t>(std::ceil(pool_ * choice.count)));
    const Ids order = choice.random.sample(everyone, everyone);
    const double deadline = choice.deadline.value_or(std::numeric_limits<double>::infinity());

    // Those asked, as the paper has it; then, since a cohort has its size, others who meet the
    // deadline, and at last whoever is fastest.
    Round round{choice, {}, 0};
    Ids left = first(order, asked);
    fill(round, left, deadline);
    left.insert(left.end(), order.begin() + static_cast<std::ptrdiff_t>(asked), order.end());
    fill(round, left, deadline);
    fill(round, left, std::numeric_limits<double>::infinity());
    return std::move(round.cohort);
  }

 private:
  struct Round {
    const Choice& choice;
    Ids cohort;
    double end = 0;  ///< when the last upload is over, by the scheduler's reckoning
  };

  /// The round's end with this client, who trains beside the others and uploads after them.
  double end_with(const Round& round, std::uint32_t id) const {
    const double seconds = measured(round.choice.clients[id].seconds);
    return std::max(round.end, seconds * (1 - upload_)) + seconds * upload_;
  }

  void fill(Round& round, Ids& left, double deadline) const {
    while (round.cohort.size() < round.choice.count && !left.empty()) {
      const auto best =
          std::min_element(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
            return end_with(round, a) < end_with(round, b);
          });
      if (end_with(round, *best) > deadline) return;
      round.end = end_with(round, *best);
      round.cohort.push_back(*best);
      left.erase(best);
    }
  }

  double pool_;
  double upload_;
};

}  // namespace

Method fedcs_method() {
  return {
      "system_aware.fedcs",
      "FedCS",
      "Nishio and Yonetani, ICC 2019 (arXiv 1804.08333)",
      "of clients asked at random, those who lengthen the round least, within the deadline",
      {{"pool", 3, 1, 1000, "clients asked for their resources, as a multiple of the cohort"},
       {"upload", 0.1, 0, 1, "part of a client's seconds that blocks the common channel"}},
      [](std::span<const double> values) { return std::make_unique<FedCs>(values[0], values[1]); }};
}

}  // namespace ebb::fl::select
