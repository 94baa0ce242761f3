// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class ProportionalData final : public Selector {
 public:
  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<double> weights;
    for (const Client& client : choice.clients)
      weights.push_back(client.samples);
    return drawn(weights, choice.count, choice.random);
  }
};

}  // namespace

Method proportional_data_method() {
  return {"heuristic.proportional_data",
          "Proportional to data",
          "Li et al., Convergence of FedAvg on non-IID data, ICLR 2020 (arXiv 1907.02189)",
          "drawn in proportion to their samples, without replacement",
          {},
          [](std::span<const double>) { return std::make_unique<ProportionalData>(); }};
}

}  // namespace ebb::fl::select
