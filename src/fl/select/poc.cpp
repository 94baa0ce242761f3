// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "fl/select/all.h"
#include "fl/select/rank.h"

namespace ebb::fl::select {
namespace {

class PowerOfChoice final : public Selector {
 public:
  explicit PowerOfChoice(double pool) : pool_(pool) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<double> samples;
    for (const Client& client : choice.clients)
      samples.push_back(client.samples);
    const auto size = static_cast<std::size_t>(std::ceil(pool_ * choice.count));
    const Ids pool = drawn(samples, std::min(size, samples.size()), choice.random);

    auto losses = fresh_losses(choice, pool);
    if (!losses) return losses.error();
    const std::vector<bool> silent = silent_ones(choice);
    for (std::size_t i = 0; i < pool.size(); ++i)
      if (silent[pool[i]]) (*losses)[i] = -1;
    Ids cohort = ranked(*losses, choice.random, choice.count);
    for (std::uint32_t& place : cohort)
      place = pool[place];
    return cohort;
  }

 private:
  double pool_;
};

}  // namespace

Method poc_method() {
  return {
      "system_aware.poc",
      "Power-of-Choice",
      "Cho et al., AISTATS 2022 (arXiv 2010.01243)",
      "of a pool drawn in proportion to data, those on whom the present model does worst",
      {{"pool", 4, 1, 1000, "clients asked for their loss, as a multiple of the cohort"}},
      [](std::span<const double> values) { return std::make_unique<PowerOfChoice>(values[0]); }};
}

}  // namespace ebb::fl::select
