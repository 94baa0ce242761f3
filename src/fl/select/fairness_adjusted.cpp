// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class FairnessAdjusted final : public Selector {
 public:
  explicit FairnessAdjusted(double price) : price_(price) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<std::optional<double>> scores;
    for (const Client& client : choice.clients)
      scores.push_back(client.loss
                           ? std::optional(measured(*client.loss) - price_ * client.participations)
                           : std::nullopt);
    return best_first(choice, scores, choice.count);
  }

 private:
  double price_;
};

}  // namespace

Method fairness_adjusted_method() {
  return {
      "heuristic.fairness_adjusted",
      "Fairness adjusted",
      "",
      "highest last loss less a price for each participation; never seen first",
      {{"price", 0.1, 0, 1000, "loss that one participation costs"}},
      [](std::span<const double> values) { return std::make_unique<FairnessAdjusted>(values[0]); }};
}

}  // namespace ebb::fl::select
