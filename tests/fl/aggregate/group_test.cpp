// SPDX-License-Identifier: Apache-2.0
// Updates that stay where they are: which of them are fetched, and that sums are the same.
#include <cmath>

#include "fl/aggregate/aggregator.h"
#include "fl/aggregate/sketch.h"

namespace ebb::fl {
namespace {

/// Two parameters of some clients, as if elsewhere.
class Elsewhere final : public UpdateGroup {
 public:
  explicit Elsewhere(std::vector<std::vector<float>> models) : models_(std::move(models)) {}

  std::vector<std::size_t> fetched;
  bool is_full = false;
  std::size_t fetches_left = 1000;

  std::size_t size() const override { return models_.size(); }
  double norm(std::size_t place) const override { return distance(kStart, models_[place]); }
  double largest_move(std::size_t place) const override {
    return std::max(std::fabs(models_[place][0]), std::fabs(models_[place][1]));
  }
  base::Result<std::vector<float>> sketch(std::size_t place) override {
    return sketch_of(kStart, models_[place]);
  }
  base::Result<std::span<const float>> fetch(std::size_t place) override {
    if (fetches_left == 0) return no_room();
    --fetches_left;
    fetched.push_back(place);
    return std::span<const float>(models_[place]);
  }
  base::Result<std::unique_ptr<SumsThere>> sum_up(std::span<const double> scales) override {
    if (is_full) return no_room();
    std::vector<std::int64_t> sums(kStart.size());
    for (std::size_t place = 0; place < models_.size(); ++place) {
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += std::llrint(static_cast<double>(models_[place][i]) * scales[place]);
    }
    return std::unique_ptr<SumsThere>(std::make_unique<Sums>(*this, std::move(sums)));
  }

  bool has_room_to_move = true;
  int moved = 0;

  inline static const std::vector<float> kStart = {0, 0};

 private:
  class Sums final : public SumsThere {
   public:
    Sums(Elsewhere& of, std::vector<std::int64_t> sums) : of_(of), sums_(std::move(sums)) {}

    base::Status add_to(std::span<std::int64_t> sums) override {
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] += sums_[i];
      return {};
    }
    base::Status move(std::span<float> weights, double unit, double divisor, double rate) override {
      if (!of_.has_room_to_move) return no_room();
      ++of_.moved;
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(static_cast<double>(weights[i]) +
                                        rate * (static_cast<double>(sums_[i]) * unit / divisor));
      return {};
    }

   private:
    Elsewhere& of_;
    const std::vector<std::int64_t> sums_;
  };

  static base::Error no_room() { return base::error(base::Code::out_of_memory, "full"); }

  std::vector<std::vector<float>> models_;
};

class Groups : public testing::Test {
 protected:
  void make(Rule rule, std::uint32_t staleness = 0) {
    Aggregation options;
    options.rule = rule;
    aggregator_ = std::move(*create_aggregator(options, {2, 8, 10000, staleness, ""}));
  }
  static std::vector<GroupContribution> of_three() {
    std::vector<GroupContribution> all;
    for (std::uint32_t i = 0; i < 3; ++i)
      all.push_back({{.place = i, .weight = 10.0 + i, .factor = 1, .late = 0}, i, false});
    return all;
  }
  std::vector<float> finished() {
    std::vector<float> weights = Elsewhere::kStart;
    EXPECT_TRUE(aggregator_->finish_round(weights, *ranks_, {}));
    return weights;
  }
  /// What the same comes to one by one.
  std::vector<float> one_by_one(const std::vector<GroupContribution>& all, Elsewhere& group,
                                Rule rule, std::uint32_t staleness = 0) {
    make(rule, staleness);
    for (const GroupContribution& one : all)
      EXPECT_TRUE(aggregator_->add(one.contribution, Elsewhere::kStart, *group.fetch(one.place)));
    group.fetched.clear();
    return finished();
  }

  std::unique_ptr<Aggregator> aggregator_;
  std::unique_ptr<Ranks> ranks_ = alone();
  Elsewhere group_{{{1, -1}, {0.25F, 3}, {-2, 0.125F}}};
};

TEST_F(Groups, AreSummedWhereTheyAre) {
  std::vector<GroupContribution> all = of_three();
  const std::vector<float> expected = one_by_one(all, group_, Rule::fedavg);
  make(Rule::fedavg);
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_TRUE(group_.fetched.empty());
  for (const GroupContribution& one : all)
    EXPECT_TRUE(one.added);
  EXPECT_EQ(finished(), expected);
  EXPECT_EQ(group_.moved, 1);
}

TEST_F(Groups, MoveTheModelHereWhereThereIsNoRoomToDoItThere) {
  std::vector<GroupContribution> all = of_three();
  const std::vector<float> expected = one_by_one(all, group_, Rule::fedavg);
  make(Rule::fedavg);
  group_.has_room_to_move = false;
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_EQ(finished(), expected);
  EXPECT_EQ(group_.moved, 0);
}

TEST_F(Groups, AreBroughtWhereARuleDoesMoreThanScale) {
  std::vector<GroupContribution> all = of_three();
  const std::vector<float> expected = one_by_one(all, group_, Rule::fedavgm);
  make(Rule::fedavgm);
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_EQ(finished(), expected);
  EXPECT_EQ(group_.moved, 0);
}

TEST_F(Groups, AreFetchedWhereARuleNeedsAllUpdates) {
  std::vector<GroupContribution> all = of_three();
  const std::vector<float> expected = one_by_one(all, group_, Rule::median);
  make(Rule::median);
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_EQ(group_.fetched, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(finished(), expected);
}

TEST_F(Groups, AreFetchedWhereTheyAreLate) {
  std::vector<GroupContribution> all = of_three();
  all[1].contribution.late = 1;
  const std::vector<float> expected = one_by_one(all, group_, Rule::fedavg, 2);
  const std::vector<float> later = finished();
  make(Rule::fedavg, 2);
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_EQ(group_.fetched, (std::vector<std::size_t>{1}));
  EXPECT_EQ(finished(), expected);
  EXPECT_EQ(finished(), later);
}

TEST_F(Groups, ThatFailAreAddedOnceInTheEnd) {
  std::vector<GroupContribution> all = of_three();
  all[0].contribution.late = 1;
  all[2].contribution.late = 2;
  const std::vector<float> expected = one_by_one(all, group_, Rule::fedavg, 2);
  make(Rule::fedavg, 2);
  group_.is_full = true;
  EXPECT_FALSE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_FALSE(all[0].added || all[1].added || all[2].added);
  group_.is_full = false;
  group_.fetches_left = 1;
  EXPECT_FALSE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_TRUE(all[0].added && all[1].added);
  EXPECT_FALSE(all[2].added);
  group_.fetches_left = 1000;
  ASSERT_TRUE(aggregator_->add_group(all, Elsewhere::kStart, group_));
  EXPECT_EQ(finished(), expected);
}

TEST_F(Groups, NameTheParameterThatMovedTooFar) {
  Elsewhere group({{1, 1}, {1, 300}, {1, NAN}});
  std::vector<GroupContribution> all = of_three();
  make(Rule::fedavg);
  const auto added = aggregator_->add_group(all, Elsewhere::kStart, group);
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("parameter 1 went from 0 to 300"), std::string::npos)
      << added.error().message;
  EXPECT_TRUE(all[0].added);
  EXPECT_FALSE(all[1].added);
}

}  // namespace
}  // namespace ebb::fl
