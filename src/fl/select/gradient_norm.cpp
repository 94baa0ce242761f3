// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class GradientNorm final : public Selector {
 public:
  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<std::optional<double>> norms;
    for (const Client& client : choice.clients)
      norms.push_back(client.gradient_norm ? std::optional(measured(*client.gradient_norm))
                                           : std::nullopt);
    return best_first(choice, norms, choice.count);
  }
};

}  // namespace

Method gradient_norm_method() {
  return {"heuristic.gradient_norm",
          "Gradient norm",
          "Marnissi et al., Client selection based on gradients importance, 2021 (arXiv "
          "2111.11204)",
          "never seen first, then the largest last update",
          {},
          [](std::span<const double>) { return std::make_unique<GradientNorm>(); }};
}

}  // namespace ebb::fl::select
