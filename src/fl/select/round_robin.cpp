// SPDX-License-Identifier: Apache-2.0
#include "fl/select/all.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kRoundRobinKey = "heuristic.round_robin";

class RoundRobin final : public Selector {
 public:
  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    std::vector<std::uint32_t> cohort;
    while (cohort.size() < choice.count) {
      next_ %= static_cast<std::uint32_t>(choice.clients.size());
      cohort.push_back(next_++);
    }
    return cohort;
  }

  base::Json state() const override { return base::Json::object({{"next", std::uint64_t{next_}}}); }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kRoundRobinKey);
    const std::uint32_t next = reader.whole("next");
    if (auto status = reader.finish(); !status) return status;
    next_ = next;
    return {};
  }

 private:
  std::uint32_t next_ = 0;
};

}  // namespace

Method round_robin_method() {
  return {kRoundRobinKey,
          "Round robin",
          "",
          "everyone in turn, in the order of their numbers",
          {},
          [](std::span<const double>) { return std::make_unique<RoundRobin>(); }};
}

}  // namespace ebb::fl::select
