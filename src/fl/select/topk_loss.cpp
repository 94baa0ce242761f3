// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class TopLoss final : public Selector {
 public:
  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<std::optional<double>> losses;
    for (const Client& client : choice.clients)
      losses.push_back(client.loss ? std::optional(measured(*client.loss)) : std::nullopt);
    return best_first(choice, losses, choice.count);
  }
};

}  // namespace

Method topk_loss_method() {
  return {"heuristic.topk_loss",
          "Top-k loss",
          "Goetz et al., Active Federated Learning, 2019 (arXiv 1909.12641), without its softmax",
          "never seen first, then the highest loss of the last participation",
          {},
          [](std::span<const double>) { return std::make_unique<TopLoss>(); }};
}

}  // namespace ebb::fl::select
