// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "fl/select/all.h"
#include "fl/select/rank.h"
#include "fl/select/state.h"

namespace ebb::fl::select {
namespace {

constexpr std::string_view kQuotaSafetyKey = "wrapper.quota_safety";
constexpr std::string_view kDefaultBase = "system_aware.oort";

class QuotaSafety final : public Selector {
 public:
  QuotaSafety(std::span<const double> values, std::string base_key, std::unique_ptr<Selector> base)
      : quota_(whole(values[0])),
        window_(whole(values[1])),
        base_key_(std::move(base_key)),
        base_(std::move(base)) {}

  base::Result<std::vector<std::uint32_t>> select(const Choice& choice) override {
    if (choice.count == 0) return Ids();
    forget(choice);
    std::vector<std::uint32_t> picks(choice.clients.size());
    for (const Ids& cohort : recent_)
      for (const std::uint32_t id : cohort)
        if (id < picks.size()) ++picks[id];

    std::vector<double> fewest;
    for (const std::uint32_t count : picks)
      fewest.push_back(-static_cast<double>(count));
    Ids cohort;
    std::vector<bool> taken(picks.size());
    const auto take = [&](std::uint32_t id) {
      if (cohort.size() == choice.count || taken[id]) return;
      taken[id] = true;
      cohort.push_back(id);
    };
    for (const std::uint32_t id : ranked(fewest, choice.random))
      if (picks[id] < quota_) take(id);
    if (cohort.size() < choice.count) {
      // A whole cohort: however many of it have a place already, enough are left.
      const auto rest = base_->select(choice);
      if (!rest) return rest;
      for (const std::uint32_t id : *rest)
        take(id);
    }
    recent_.push_back(cohort);
    return cohort;
  }

  void learn(const Outcome& outcome) override { base_->learn(outcome); }
  bool needs_sketches() const override { return base_->needs_sketches(); }
  bool needs_labels() const override { return base_->needs_labels(); }

  base::Json state() const override {
    base::Json::Array recent;
    for (const Ids& cohort : recent_)
      recent.push_back(to_json(cohort));
    return base::Json::object(
        {{"recent", std::move(recent)}, {"base_key", base_key_}, {"base", base_->state()}});
  }

  base::Status restore(const base::Json& state) override {
    StateReader reader(state, kQuotaSafetyKey);
    std::vector<Ids> recent;
    const base::Json lists = reader.value("recent");
    reader.require(lists.is_array(), "recent is not a list");
    for (const base::Json& list : lists.is_array() ? *lists.as_array() : base::Json::Array()) {
      const base::Json wrapped = base::Json::object({{"recent", list}});
      StateReader row(wrapped, kQuotaSafetyKey);
      recent.push_back(row.wholes("recent"));
      if (auto status = row.finish(); !status) return status;
    }
    reader.require(reader.text("base_key") == base_key_, "base_key is another method");
    const base::Json base = reader.value("base");
    if (auto status = reader.finish(); !status) return status;
    if (auto status = base_->restore(base); !status) return status;
    recent_ = std::move(recent);
    return {};
  }

 private:
  /// Cohorts that lie outside the window.
  void forget(const Choice& choice) {
    const double automatic =
        std::ceil(2.0 * static_cast<double>(choice.clients.size()) / choice.count);
    const std::size_t window = window_ > 0 ? window_ : static_cast<std::size_t>(automatic);
    if (recent_.size() > window)
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(window));
  }

  std::uint32_t quota_;
  std::uint32_t window_;
  std::string base_key_;
  std::unique_ptr<Selector> base_;
  std::vector<Ids> recent_;  ///< cohorts, oldest first
};

}  // namespace

std::unique_ptr<Selector> create_quota_safety(std::span<const double> values, std::string base_key,
                                              std::unique_ptr<Selector> base) {
  return std::make_unique<QuotaSafety>(values, std::move(base_key), std::move(base));
}

Method quota_safety_method() {
  return {kQuotaSafetyKey,
          "Quota",
          "",
          "whoever had too few turns lately first, the rest by a base method (Oort)",
          {{"quota", 1, 1, 1000, "turns that everyone gets within the window"},
           {"window", 0, 0, 1e6, "rounds; 0: so many that half of all places are needed for it"}},
          [](std::span<const double> values) {
            return create_quota_safety(values, std::string(kDefaultBase),
                                       create_selector(kDefaultBase).value());
          }};
}

}  // namespace ebb::fl::select
