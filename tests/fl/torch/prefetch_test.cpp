// SPDX-License-Identifier: Apache-2.0
// Batches that are gathered ahead of when they are needed: here the host plays the card.
#include "fl/torch/prefetch.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "fl/data/data_set.h"
#include "fl/torch/local_steps.h"
#include "fl/torch/torch_trainer.h"

namespace ebb::fl {
namespace {

class PrefetchTest : public testing::Test {
 protected:
  PrefetchTest() {
    SyntheticOptions options;
    options.picture = {3, 16, 16};
    options.train = 300;
    options.test = 50;
    options.seed = 5;
    data_ = *synthetic_data_set(options);
    order_.resize(data_->train.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::reverse(order_.begin(), order_.end());
  }

  DeviceSplit split(bool held = false) const {
    return {data_->train, data_->picture, at::kCPU, held};
  }
  /// Of batches of `size`, one after the other.
  std::span<const std::uint32_t> batch(std::size_t number, std::size_t size) const {
    return std::span(order_).subspan(number * size, size);
  }
  Prefetch::Samples in_order() const {
    return [this](std::size_t number, std::span<std::uint32_t> into) {
      const auto from = batch(number, into.size());
      std::copy(from.begin(), from.end(), into.begin());
    };
  }

  std::shared_ptr<const DataSet> data_;
  std::vector<std::uint32_t> order_;
};

TEST_F(PrefetchTest, BringsTheBatchesThatADeviceWouldTakeItself) {
  const DeviceSplit gathered = split();
  const DeviceSplit held = split(true);
  for (const std::size_t ahead : {1U, 2U, 4U, 100U}) {
    Prefetch prefetch(gathered, {.size = 20, .count = 15, .ahead = ahead}, in_order());
    for (std::size_t i = 0; i < 15; ++i) {
      const auto samples = batch(i, 20);
      const auto own = held.take(samples, sent(samples, at::kCPU));
      const auto asked = gathered.take(samples, at::Tensor());
      const auto found = prefetch.next();
      EXPECT_TRUE(at::equal(found.pixels, own.pixels)) << ahead << " " << i;
      EXPECT_TRUE(at::equal(found.labels, own.labels)) << ahead << " " << i;
      EXPECT_TRUE(at::equal(asked.pixels, own.pixels) && at::equal(asked.labels, own.labels));
    }
  }
}

TEST_F(PrefetchTest, IsAheadBeforeAnyBatchIsAskedForAndNoFurtherThanThereIsRoom) {
  const DeviceSplit gathered = split();
  std::atomic<std::size_t> begun = 0;  // asked for by next(), or about to be
  std::atomic<std::size_t> gathers = 0;
  const auto samples = [&](std::size_t number, std::span<std::uint32_t> into) {
    EXPECT_EQ(number, gathers) << "in their order";
    const std::size_t given_back = std::max<std::size_t>(begun, 1) - 1;
    EXPECT_LT(number, given_back + 3);
    std::fill(into.begin(), into.end(), static_cast<std::uint32_t>(number));
    ++gathers;
    gathers.notify_all();
  };
  const auto wait_until = [&](std::size_t count) {
    for (std::size_t seen = gathers; seen < count; seen = gathers)
      gathers.wait(seen);
  };
  Prefetch prefetch(gathered, {.size = 10, .count = 30, .ahead = 3}, samples);
  wait_until(3);
  for (std::size_t i = 0; i < 30; ++i) {
    ++begun;
    const auto found = prefetch.next();
    // Two more are gathered while this one is in use, and leave it alone.
    wait_until(std::min<std::size_t>(i + 3, 30));
    EXPECT_TRUE(at::equal(found.labels, at::full({10}, data_->train.labels[i], at::kLong))) << i;
    EXPECT_EQ(found.pixels[9].flatten()[0].item<int>(), data_->train.pixels[i * 768]) << i;
  }
  EXPECT_EQ(gathers, 30U);
}

TEST_F(PrefetchTest, CanBeGivenUpHalfWay) {
  const DeviceSplit gathered = split();
  for (std::size_t taken = 0; taken < 4; ++taken) {
    Prefetch prefetch(gathered, {.size = 10, .count = 30, .ahead = 2}, in_order());
    for (std::size_t i = 0; i < taken; ++i)
      prefetch.next();
  }
}

TEST_F(PrefetchTest, HandsOnWhatItsThreadThrew) {
  const DeviceSplit gathered = split();
  Prefetch prefetch(gathered, {.size = 10, .count = 30, .ahead = 2},
                    [&](std::size_t number, std::span<std::uint32_t> into) {
                      if (number == 1) throw std::runtime_error("no second batch");
                      in_order()(number, into);
                    });
  prefetch.next();
  EXPECT_THROW(prefetch.next(), std::runtime_error);
}

/// Training and evaluation with data that a device holds, prefetches or gathers.
class PrefetchedTrainingTest : public PrefetchTest {
 protected:
  struct Found {
    std::vector<float> weights;
    std::vector<double> losses;
    std::vector<std::uint64_t> confusion;
    std::vector<std::string> lines;
  };

  Found found_with(const CardUse& use) {
    const auto network = plan::network_named("LightCNN", data_->picture, data_->classes);
    auto trainer = TorchTrainer::create(*network, data_, Backend::native, use);
    EXPECT_TRUE(trainer);
    std::vector<float> global((*trainer)->parameters());
    (*trainer)->initialise(1, global);
    // More than go to a device at a time, and clients that are done at different times.
    std::vector<LocalTask> tasks(3);
    for (std::uint32_t client = 0; client < 3; ++client) {
      tasks[client].client = client;
      tasks[client].order = std::span(order_).subspan(client * 90, 70 + 5 * client);
      tasks[client].batch = 1;
    }
    static_assert(kStepsAtATime < 70);
    Found found;
    const auto keep = [&](std::span<const LocalResult> results, UpdateGroup& updates) {
      for (std::size_t place = 0; place < tasks.size(); ++place) {
        const auto trained = updates.fetch(place);
        found.weights.insert(found.weights.end(), trained->begin(), trained->end());
        found.losses.push_back(results[place].loss);
      }
      return base::Status();
    };
    EXPECT_TRUE((*trainer)->train_together(global, tasks, keep, nullptr));
    const auto shape = shape_of(*network);
    const SideBySide together(*network, *shape, *data_, at::kCPU, use);
    found.confusion = together.evaluate(global, data_->train, order_).confusion;
    found.lines = (*trainer)->lines();
    EXPECT_TRUE((*trainer)->lines().empty()) << "said once";
    return found;
  }
};

TEST_F(PrefetchedTrainingTest, HasTheBitsOfDataThatTheDeviceHolds) {
  const Found held = found_with({.clients = 3, .evaluated = 64});
  ASSERT_EQ(held.losses.size(), 3U);
  for (const std::uint32_t ahead : {0U, 1U, kBatchesAhead}) {
    const Found other =
        found_with({.clients = 3, .evaluated = 64, .holds_data = false, .ahead = ahead});
    EXPECT_EQ(other.weights, held.weights) << ahead;
    EXPECT_EQ(other.losses, held.losses) << ahead;
    EXPECT_EQ(other.confusion, held.confusion) << ahead;
    EXPECT_TRUE(other.lines.empty());
  }
}

TEST_F(PrefetchedTrainingTest, GathersAsNeededAndSaysSoWhereThereIsNoRoom) {
  const Found held = found_with({.clients = 3});
  const Found other =
      found_with({.clients = 3, .holds_data = false, .ahead = 0xffffffff});  // terabytes
  EXPECT_EQ(other.weights, held.weights);
  EXPECT_EQ(other.confusion, held.confusion);
  ASSERT_EQ(other.lines.size(), 1U);
  EXPECT_NE(other.lines[0].find("no room to prefetch"), std::string::npos) << other.lines[0];
  EXPECT_NE(other.lines[0].find("memory"), std::string::npos) << other.lines[0];
}

}  // namespace
}  // namespace ebb::fl
