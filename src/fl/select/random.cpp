// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"

namespace ebb::fl::select {
namespace {

class RandomSelector final : public Selector {
 public:
  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    return choice.random.sample(static_cast<std::uint32_t>(choice.clients.size()), choice.count);
  }
};

constexpr std::string_view kCitation = "McMahan et al., AISTATS 2017 (arXiv 1602.05629)";

std::unique_ptr<Selector> create(std::span<const double> /*values*/) {
  return std::make_unique<RandomSelector>();
}

}  // namespace

Method random_method() {
  return {"heuristic.random", "Random", kCitation, "every cohort equally likely", {}, create};
}

Method fedavg_method() {
  return {"baseline.fedavg",
          "FedAvg",
          kCitation,
          "random selection, under the name of the algorithm",
          {},
          create};
}

}  // namespace ebb::fl::select
