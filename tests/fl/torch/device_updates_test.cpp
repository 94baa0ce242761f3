// SPDX-License-Identifier: Apache-2.0
// Sums where the updates are have the bits of sums on the host; all of it runs on any device, here
// on the host's.
#include "fl/torch/device_updates.h"

#include <cmath>
#include <limits>

#include "fl/aggregate/sketch.h"
#include "fl/aggregate/update_sum.h"
#include "fl/card_use.h"
#include "fl/random.h"

namespace ebb::fl {
namespace {

constexpr double kLargestWeight = 60000;

/// Models of several clients as a batched network has them, and as rows of the host.
class Models {
 public:
  Models(std::vector<std::int64_t> sizes, std::int64_t clients, double spread, std::uint64_t seed)
      : sizes_(std::move(sizes)) {
    Random random(seed, Purpose::initial_weights);
    std::size_t length = 0;
    for (const std::int64_t size : sizes_)
      length += static_cast<std::size_t>(size);
    from.resize(length);
    for (float& value : from)
      value = static_cast<float>(random.normal());
    for (std::int64_t client = 0; client < clients; ++client) {
      std::vector<float>& row = to.emplace_back(from);
      for (float& value : row)
        value += static_cast<float>(spread * random.normal());
    }
  }

  /// The clients from `first` on, as tensors.
  DeviceUpdates updates(std::size_t first, std::size_t count) const {
    std::vector<at::Tensor> before;
    std::vector<at::Tensor> after;
    std::size_t at = 0;
    for (const std::int64_t size : sizes_) {
      before.push_back(piece(from, at, size));
      std::vector<at::Tensor> rows;
      for (std::size_t client = first; client < first + count; ++client)
        rows.push_back(piece(to[client], at, size));
      after.push_back(at::stack(rows));
      at += static_cast<std::size_t>(size);
    }
    return DeviceUpdates(static_cast<std::int64_t>(count), before, after);
  }

  std::vector<float> from;
  std::vector<std::vector<float>> to;

 private:
  static at::Tensor piece(const std::vector<float>& row, std::size_t at, std::int64_t size) {
    return at::from_blob(const_cast<float*>(row.data() + at), {size}, at::kFloat).clone();
  }

  std::vector<std::int64_t> sizes_;
};

std::vector<std::int64_t> raw_bits(UpdateSum& sum) {
  EXPECT_TRUE(sum.bring());
  return {sum.raw().begin(), sum.raw().end()};
}

/// What the host makes of them, one by one.
std::vector<std::int64_t> on_the_host(const Models& models,
                                      const std::vector<UpdateSum::Share>& shares) {
  UpdateSum sum(models.from.size(), kLargestWeight);
  for (std::size_t i = 0; i < models.to.size(); ++i)
    EXPECT_TRUE(sum.add(models.from, models.to[i], shares[i].weight, shares[i].factor));
  return raw_bits(sum);
}

/// The same in groups of `each`.
std::vector<std::int64_t> in_groups(const Models& models,
                                    const std::vector<UpdateSum::Share>& shares, std::size_t each) {
  UpdateSum sum(models.from.size(), kLargestWeight);
  for (std::size_t first = 0; first < models.to.size(); first += each) {
    const std::size_t count = std::min(each, models.to.size() - first);
    DeviceUpdates updates = models.updates(first, count);
    EXPECT_TRUE(sum.add(updates, std::span(shares).subspan(first, count)));
  }
  return raw_bits(sum);
}

void expect_same_sums(const Models& models, const std::vector<UpdateSum::Share>& shares) {
  const std::vector<std::int64_t> expected = on_the_host(models, shares);
  for (const std::size_t each : {1U, 2U, 3U, 7U})
    EXPECT_EQ(in_groups(models, shares, each), expected) << each << " at a time";
}

TEST(DeviceUpdates, AddUpToTheBitsOfTheHostHoweverTheyAreGrouped) {
  for (const double spread : {1e-6, 0.01, 10.0}) {
    const Models models({5, 300, 1, 77}, 7, spread, 1);
    std::vector<UpdateSum::Share> shares;
    for (int i = 0; i < 7; ++i)
      shares.push_back({100.0 + 61 * i, 1});
    expect_same_sums(models, shares);
  }
}

TEST(DeviceUpdates, MoveTheModelWhereTheyAreToTheBitsOfTheHost) {
  const Models models({5, 300, 1, 77}, 7, 0.01, 4);
  const std::vector<UpdateSum::Share> shares = {{60, 1},    {1, 0.3},  {7, 1},   {600, 1},
                                                {13, 0.01}, {9999, 1}, {0.25, 1}};
  for (const double rate : {1.0, 0.3}) {
    const auto moved = [&](UpdateSum& sum, bool there) {
      std::vector<float> weights = models.from;
      EXPECT_EQ(sum.move_there(weights, sum.weight(), rate), there);
      if (there) return weights;
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<float>(static_cast<double>(weights[i]) +
                                        rate * (sum.sum(i) / sum.weight()));
      return weights;
    };
    UpdateSum host(models.from.size(), kLargestWeight);
    for (std::size_t i = 0; i < models.to.size(); ++i)
      ASSERT_TRUE(host.add(models.from, models.to[i], shares[i].weight, shares[i].factor));
    UpdateSum device(models.from.size(), kLargestWeight);
    DeviceUpdates updates = models.updates(0, 7);
    ASSERT_TRUE(device.add(updates, shares));
    EXPECT_EQ(moved(device, true), moved(host, false)) << rate;
    // Cleared, they are as new, wherever they were.
    device.clear();
    EXPECT_EQ(raw_bits(device), std::vector<std::int64_t>(models.from.size() + 1));
    // A second group is added to the first here.
    DeviceUpdates some = models.updates(0, 3);
    DeviceUpdates others = models.updates(3, 4);
    ASSERT_TRUE(device.add(some, std::span(shares).first(3)));
    ASSERT_TRUE(device.add(others, std::span(shares).subspan(3)));
    EXPECT_EQ(moved(device, false), moved(host, false)) << rate;
  }
}

TEST(DeviceUpdates, AddUpWhatIsClippedAndLeaveOutWhatDoesNotCount) {
  const Models models({5, 300, 1, 77}, 7, 1, 2);
  std::vector<UpdateSum::Share> shares;
  for (int i = 0; i < 7; ++i)
    shares.push_back({i == 3 ? 0.0 : 1.0, 1 / (1.7 + i)});
  expect_same_sums(models, shares);
}

TEST(DeviceUpdates, AreSketchedAsTheHostDoes) {
  // More than are looked at, and more than are projected, at a time.
  const Models models({5, 300000, 1, 77}, 3, 0.01, 6);
  DeviceUpdates updates = models.updates(0, 3);
  for (std::size_t place = 0; place < 3; ++place) {
    const auto found = updates.sketch(place);
    ASSERT_TRUE(found) << found.error().message;
    const std::vector<float> expected = sketch_of(models.from, models.to[place]);
    ASSERT_EQ(found->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR((*found)[i], expected[i], 1e-5) << place << " " << i;
  }
}

TEST(DeviceUpdates, RoundHalvesToEven) {
  // With weights up to 1 the unit is 2^-52: every move here is an odd number of half units.
  Models models({64}, 2, 0, 3);
  for (std::size_t i = 0; i < models.from.size(); ++i) {
    models.from[i] = 0;
    models.to[0][i] = static_cast<float>(std::ldexp(2.0 * static_cast<double>(i) + 1, -53));
    models.to[1][i] = -models.to[0][i];
  }
  UpdateSum host(64, 1);
  ASSERT_TRUE(host.add(models.from, models.to[0], 1));
  UpdateSum device(64, 1);
  DeviceUpdates updates = models.updates(0, 2);
  ASSERT_TRUE(device.add(updates, std::vector<UpdateSum::Share>{{1, 1}, {0, 1}}));
  EXPECT_EQ(raw_bits(device), raw_bits(host));
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(device.raw()[i] % 2, 0) << i;
  ASSERT_TRUE(host.add(models.from, models.to[1], 1));
  ASSERT_TRUE(device.add(updates, std::vector<UpdateSum::Share>{{0, 1}, {1, 1}}));
  EXPECT_EQ(raw_bits(device), raw_bits(host));
}

TEST(DeviceUpdates, LargerThanASliceAddUpAndMeasureTheSame) {
  const auto slice = static_cast<std::int64_t>(kParametersAtATime);
  const Models models({slice - 3, 8, 2 * slice + 5, 11}, 3, 0.1, 4);
  expect_same_sums(models, {{600, 1}, {413, 1}, {50, 0.25}});
  DeviceUpdates all = models.updates(0, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(all.norm(i) / distance(models.from, models.to[i]), 1, 1e-12);
    EXPECT_EQ(models.updates(i, 1).norm(0), all.norm(i)) << "in a group of any size";
    float furthest = 0;
    for (std::size_t at = 0; at < models.from.size(); ++at)
      furthest = std::max(furthest, std::fabs(models.to[i][at] - models.from[at]));
    EXPECT_NEAR(all.largest_move(i), static_cast<double>(furthest), 1e-6);
    const auto fetched = all.fetch(i);
    ASSERT_TRUE(fetched);
    EXPECT_TRUE(std::equal(fetched->begin(), fetched->end(), models.to[i].begin()));
  }
}

TEST(DeviceUpdates, TellWhatIsNoNumberOrMovedTooFar) {
  Models models({20, 20}, 4, 0.1, 5);
  models.to[0][25] = std::numeric_limits<float>::quiet_NaN();
  models.to[1][3] = -std::numeric_limits<float>::infinity();
  models.to[2][7] = 300;
  const DeviceUpdates updates = models.updates(0, 4);
  EXPECT_FALSE(std::isfinite(updates.largest_move(0)));
  EXPECT_FALSE(std::isfinite(updates.largest_move(1)));
  EXPECT_GT(updates.largest_move(2), UpdateSum::kLargestMove);
  EXPECT_LT(updates.largest_move(3), 1);
}

}  // namespace
}  // namespace ebb::fl
